package upstream_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"

	"github.com/scalws/scalws/pkg/server/internal/loop"
	"github.com/scalws/scalws/pkg/server/internal/upstream"
)

// No dial may leave a goroutine behind, also one that was given up.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is a connect timeout that no test that passes waits for.
const patience = 20 * time.Second

// onLoop starts loops that end with the test.
func onLoop(t testing.TB) *loop.Loop {
	t.Helper()
	loops, err := loop.Start(1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { loops.Close() })
	return loops.Any()
}

// dial connects and closes the connection when the test ends.
func dial(t testing.TB, m *upstream.Member) *upstream.Conn {
	t.Helper()
	c, err := m.Dial(t.Context(), onLoop(t), patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Cut() })
	return c
}

// failure is the *DialError of a dial that fails within the timeout.
func failure(t *testing.T, m *upstream.Member, timeout time.Duration) *upstream.DialError {
	t.Helper()
	began := time.Now()
	c, err := m.Dial(t.Context(), onLoop(t), timeout)
	if err == nil {
		c.Cut()
		t.Fatal("connected")
	}
	// Late by some is a busy machine; late by much is a timeout that does not cover all.
	if took := time.Since(began); took > timeout+5*time.Second {
		t.Errorf("took %v, want no more than %v", took, timeout)
	}
	var e *upstream.DialError
	if !errors.As(err, &e) {
		t.Fatalf("%T: %v, want a *DialError", err, err)
	}
	return e
}

// ask sends a request and returns the body of the answer.
func ask(t testing.TB, c *upstream.Conn) string {
	t.Helper()
	c.SetDeadline(time.Now().Add(patience))
	defer c.SetDeadline(time.Time{})
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	r, err := http.ReadResponse(bufio.NewReader(iotest.OneByteReader(c)), nil) // nothing behind the answer
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// take is the idle connection that m gives out, or a new one, and says which.
func take(t testing.TB, m *upstream.Member, now time.Time) (c *upstream.Conn, kind string) {
	t.Helper()
	if c = m.Get(now, nil); c != nil {
		return c, "kept"
	}
	return dial(t, m), "new"
}

// until waits for what has no event of its own.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); !ok(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
