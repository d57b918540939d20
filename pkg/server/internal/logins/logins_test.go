package logins

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/bcrypt"
)

func line(t testing.TB, user, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return user + ":" + string(h) + "\n"
}

func source(t testing.TB, text string) *Source {
	t.Helper()
	file := filepath.Join(t.TempDir(), "htpasswd")
	write(t, file, text)
	s, err := New(file, NewPlaces())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The verdicts.
const (
	right = "right"
	wrong = "wrong"
	busy  = "busy"
)

func check(s *Source, user, password string) string {
	ok, err := s.Check([]byte(user), []byte(password))
	switch {
	case errors.Is(err, ErrBusy):
		return busy
	case ok:
		return right
	}
	return wrong
}

func TestCheck(t *testing.T) {
	s := source(t, line(t, "alice", "sesame"))
	for range 2 { // the second time it is remembered
		if v := check(s, "alice", "sesame"); v != right {
			t.Errorf("the right login: %v", v)
		}
	}
	// No other login is taken for the remembered one.
	for _, c := range [][2]string{{"alice", "sesam"}, {"alices", "esame"}, {"", "alicesesame"}, {"bob", "sesame"}, {"alice", ""}} {
		if v := check(s, c[0], c[1]); v != wrong {
			t.Errorf("%v: %v", c, v)
		}
	}
}

// A login that was right is forgotten with the file that said so.
func TestRefreshForgets(t *testing.T) {
	s := source(t, line(t, "alice", "sesame"))
	check(s, "alice", "sesame")
	if changed, err := s.Refresh(); changed || err != nil {
		t.Errorf("an unchanged file: %v, %v", changed, err)
	}
	write(t, s.File(), line(t, "alice", "other"))
	if changed, err := s.Refresh(); !changed || err != nil {
		t.Fatalf("a changed file: %v, %v", changed, err)
	}
	if v := check(s, "alice", "sesame"); v != wrong {
		t.Errorf("the old password: %v", v)
	}
	if v := check(s, "alice", "other"); v != right {
		t.Errorf("the new password: %v", v)
	}
	for name, text := range map[string]string{"broken": "alice:secret\n", "large": strings.Repeat("#", maxFile+1)} {
		write(t, s.File(), text)
		if _, err := s.Refresh(); err == nil || !strings.Contains(err.Error(), s.File()) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
		if v := check(s, "alice", "other"); v != right {
			t.Errorf("after a %s file: %v", name, v)
		}
	}
	if err := os.Remove(s.File()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Refresh(); err == nil {
		t.Error("a file that is gone is no error")
	}
	if _, err := New(s.File(), s.places); err == nil {
		t.Error("a source without a file")
	}
}

// However many logins there are, a bounded number is remembered, and one that is in use stays.
func TestRememberedIsBounded(t *testing.T) {
	var r remembered
	used := r.id([]byte("used"), nil)
	r.add(used)
	for i := range 10 * mostRemembered {
		r.add(r.id(binary.BigEndian.AppendUint64(nil, uint64(i)), nil))
		if !r.has(used) {
			t.Fatalf("a login in use was forgotten after %d others", i)
		}
		if n := len(r.newer) + len(r.older); n > mostRemembered {
			t.Fatalf("%d are remembered", n)
		}
	}
}

// Where too many wait nobody else does.
func TestBusy(t *testing.T) {
	s := source(t, line(t, "alice", "sesame"))
	for range cap(s.places) {
		s.places <- struct{}{} // somebody computes for a long time
	}
	var all sync.WaitGroup
	for range mostWaiting {
		all.Go(func() {
			if v := check(s, "alice", "sesame"); v != right {
				t.Errorf("one that had to wait: %v", v)
			}
		})
	}
	for s.waiting.Load() < mostWaiting {
		runtime.Gosched()
	}
	if v := check(s, "alice", "sesame"); v != busy {
		t.Errorf("one too many: %v", v)
	}
	for range cap(s.places) {
		<-s.places
	}
	all.Wait()
	if v := check(s, "alice", "sesame"); v != right || s.waiting.Load() != 0 {
		t.Errorf("afterwards: %v, %d waiting", v, s.waiting.Load())
	}
}

// A login that has waited too long is told so, and one that waited while the file changed is checked by the new one.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := source(t, line(t, "alice", "sesame"))
		for range cap(s.places) {
			s.places <- struct{}{}
		}
		began := time.Now()
		if v := check(s, "alice", "sesame"); v != busy || time.Since(began) != longestWait || s.waiting.Load() != 0 {
			t.Errorf("%s after %v, %d waiting", v, time.Since(began), s.waiting.Load())
		}
		verdict := make(chan string)
		go func() { verdict <- check(s, "alice", "sesame") }()
		synctest.Wait()
		write(t, s.File(), line(t, "alice", "other"))
		if _, err := s.Refresh(); err != nil {
			t.Fatal(err)
		}
		<-s.places
		if v := <-verdict; v != wrong {
			t.Errorf("by a file that was replaced: %s", v)
		}
	})
}

// However many files there are, as many hashes are computed at once as there are places.
func TestSourcesSharePlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, text := source(t, line(t, "alice", "sesame")), line(t, "bob", "sesame")
		file := filepath.Join(t.TempDir(), "other")
		write(t, file, text)
		other, err := New(file, one.places)
		if err != nil {
			t.Fatal(err)
		}
		for range cap(one.places) {
			one.places <- struct{}{}
		}
		if v := check(other, "bob", "sesame"); v != busy {
			t.Errorf("with all places taken: %s", v)
		}
	})
}

func TestKnownLoginAllocatesNothing(t *testing.T) {
	s := source(t, line(t, "alice", "sesame"))
	user, password := []byte("alice"), []byte("sesame")
	s.Check(user, password)
	if n := testing.AllocsPerRun(100, func() { s.Check(user, password) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkCheck is a login that is remembered, as one with each request is.
func BenchmarkCheck(b *testing.B) {
	s := source(b, line(b, "alice", "sesame"))
	user, password := []byte("alice"), []byte("sesame")
	s.Check(user, password)
	b.ReportAllocs()
	for b.Loop() {
		s.Check(user, password)
	}
}
