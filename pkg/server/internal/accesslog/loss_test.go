package accesslog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// stuck is an output that takes nothing until it is freed.
type stuck struct {
	*memory
	free chan struct{}
}

func (s stuck) Write(p []byte) (int, error) {
	<-s.free
	return s.memory.Write(p)
}

// Lines are lost for as long as the output stands still. The process log hears of it when it begins, and
// when it has ended for good; in between it hears nothing, however many are lost.
func TestLossIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, out := &processLog{}, stuck{newMemory(), make(chan struct{})}
		l := newLog(out, Options{Format: JSON, Log: said.logger()}, "")
		l.Write(sample(), nil)
		time.Sleep(flushDelay) // the writer stands still with this line
		synctest.Wait()
		for range maxBuffer/len(appendEntry(nil, format{json: true}, &seconds{}, sample())) + 1 {
			l.Write(sample(), nil)
		}
		for range 5 {
			l.Write(sample(), nil)
			time.Sleep(2 * calm)
		}
		synctest.Wait()
		want := []string{`level=WARN msg="access log lines are lost" error="the output stands still"`}
		if diff := cmp.Diff(want, said.lines()); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		close(out.free)
		l.Write(sample(), nil)
		time.Sleep(2 * calm)
		lost := l.Dropped()
		if lost < 5 {
			t.Errorf("Dropped() = %d", lost)
		}
		for range 3 {
			l.Write(sample(), nil)
			time.Sleep(2 * calm)
		}
		synctest.Wait()
		if got := said.lines(); len(got) != 2 || !strings.HasPrefix(got[1], `level=INFO msg="access log lines are written again" lost=`) {
			t.Errorf("said %q", got)
		}
		mustClose(t, l)
	})
}

// An output that refuses some lines and takes others is one loss, not many; the next one is told anew, with
// its own number of lines.
func TestLossThatComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said, out := &processLog{}, newMemory()
		l := newLog(out, Options{Format: Text, Log: said.logger()}, "")
		refuse := func() {
			out.mu.Lock()
			out.take = 0
			out.mu.Unlock()
			l.Write(sample(), nil)
			time.Sleep(time.Second)
			l.Write(sample(), nil)
			time.Sleep(time.Second)
		}
		for range 20 {
			refuse()
		}
		time.Sleep(3 * calm)
		refuse()
		l.Write(sample(), nil)
		time.Sleep(3 * calm)
		synctest.Wait()
		mustClose(t, l)
		lost := `level=WARN msg="access log lines are lost" error="no space left on device"`
		again := `level=INFO msg="access log lines are written again" lost=`
		if diff := cmp.Diff([]string{lost, again + "20", lost, again + "1"}, said.lines()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A full disk takes no line. Write does not notice.
func TestLossFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full here")
	}
	synctest.Test(t, func(t *testing.T) {
		said := &processLog{}
		l, err := Open(Options{Output: "/dev/full", Format: JSON, Log: said.logger()})
		must(t, err)
		for range 1000 {
			l.Write(sample(), nil)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if l.Dropped() != 1000 {
			t.Errorf("Dropped() = %d, want 1000", l.Dropped())
		}
		want := []string{`level=WARN msg="access log lines are lost" error="write /dev/full: no space left on device"`}
		if diff := cmp.Diff(want, said.lines()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if err := l.Close(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("Close() = %v, want ENOSPC", err)
		}
	})
}

// A named pipe whose reader has stopped reading fills up; when it reads on, it gets whole lines only.
func TestLossNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(path, 0o600))
	// Opening it for both ends waits for nobody.
	reader, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	l, err := Open(Options{Output: path, Format: Text})
	must(t, err)
	line := appendEntry(nil, format{}, &seconds{}, sample())
	for range 3 * maxBuffer / len(line) {
		l.Write(sample(), nil)
	}
	if l.Dropped() == 0 {
		t.Fatal("nothing was dropped")
	}
	read := make(chan []byte)
	go func() {
		var all []byte
		buf := make([]byte, 64<<10)
		for {
			n, err := reader.Read(buf)
			if all = append(all, buf[:n]...); err != nil || bytes.HasSuffix(all, []byte("the last\"\n")) {
				read <- all
				return
			}
		}
	}()
	last := sample()
	last.UserAgent = []byte("the last")
	// The buffer has room again once the reader has taken what was in it.
	for deadline := time.Now().Add(20 * time.Second); ; {
		before := l.Dropped()
		if l.Write(last, nil); l.Dropped() == before {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the buffer does not get empty")
		}
	}
	for got := range bytes.Lines(<-read) {
		if !bytes.Equal(got, line) && !bytes.HasSuffix(got, []byte("\"the last\"\n")) {
			t.Fatalf("torn line %q", got)
		}
	}
	mustClose(t, l)
	must(t, reader.Close())
}

// At 45,000 requests a second the log asks the system for something less than once in a hundred of them.
func TestWritesAreFewBesideLines(t *testing.T) {
	const requests = 45_000
	for _, name := range []string{JSON, Text} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := newMemory()
				l := newLog(out, Options{Format: name}, "")
				for range 1000 {
					for range requests / 1000 {
						l.Write(sample(), nil)
					}
					time.Sleep(time.Millisecond)
				}
				mustClose(t, l)
				// Each write also wakes the writer, which may take one call for each of two signals.
				if calls := 3 * len(out.got()); calls > requests/100 || l.Dropped() > 0 {
					t.Errorf("%d writes for %d lines, %d dropped", len(out.got()), requests, l.Dropped())
				}
			})
		})
	}
}
