package accesslog

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is an output that keeps what it gets and when, and fails where told to.
type memory struct {
	mu     sync.Mutex
	writes []string
	closed bool
	// take is how many bytes the next write takes before it fails; negative: all.
	take int
}

func newMemory() *memory { return &memory{take: -1} }

func (m *memory) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.take; n >= 0 {
		m.take = -1
		m.writes = append(m.writes, string(p[:n]))
		return n, syscall.ENOSPC
	}
	m.writes = append(m.writes, string(p))
	return len(p), nil
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

func (m *memory) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

func (m *memory) Stat() (os.FileInfo, error) { return nil, os.ErrInvalid }

func (m *memory) got() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes
}

func mustClose(t *testing.T, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestLogWritesAfterTheDelayOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newMemory()
		l := newLog(out, Options{Format: Text}, "")
		time.Sleep(time.Hour)
		if n := len(out.got()); n != 0 {
			t.Fatalf("%d writes without a line", n)
		}
		l.Write(sample(), nil)
		l.Write(sample(), nil)
		time.Sleep(flushDelay - time.Nanosecond)
		synctest.Wait()
		if n := len(out.got()); n != 0 {
			t.Fatalf("%d writes before the delay", n)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := out.got(); len(got) != 1 || strings.Count(got[0], "\n") != 2 {
			t.Fatalf("after the delay: %q", got)
		}
		time.Sleep(time.Hour)
		if n := len(out.got()); n != 1 {
			t.Fatalf("%d writes, want the one", n)
		}
		mustClose(t, l)
		if !out.closed {
			t.Error("the output is still open")
		}
	})
}

func TestLogWritesAtOnceWhenFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newMemory()
		l := newLog(out, Options{Format: JSON}, "")
		begin := time.Now()
		for size := 0; size < flushSize; size += len(appendEntry(nil, format{json: true}, &seconds{}, sample())) {
			l.Write(sample(), nil)
		}
		synctest.Wait()
		if len(out.got()) == 0 || time.Since(begin) != 0 {
			t.Errorf("%d writes after %s", len(out.got()), time.Since(begin))
		}
		mustClose(t, l)
	})
}

func TestLogCloseWritesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newMemory()
		l := newLog(out, Options{Format: Text}, "")
		l.Write(sample(), nil)
		begin := time.Now()
		mustClose(t, l)
		mustClose(t, l)
		if got := strings.Join(out.got(), ""); strings.Count(got, "\n") != 1 || time.Since(begin) != 0 {
			t.Errorf("%q after %s", got, time.Since(begin))
		}
		l.Write(sample(), nil)
		if l.Dropped() != 1 {
			t.Errorf("Dropped() = %d for a line after Close", l.Dropped())
		}
	})
}

// A disk that fills up in the middle of a line: the torn line is ended before the next one.
func TestLogTornLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newMemory()
		l := newLog(out, Options{Format: Text}, "")
		length := len(appendEntry(nil, format{}, &seconds{}, sample()))
		out.take = length + 10
		for range 3 {
			l.Write(sample(), nil)
		}
		time.Sleep(time.Second)
		if got := l.Dropped(); got != 2 {
			t.Errorf("Dropped() = %d, want 2", got)
		}
		l.Write(sample(), nil)
		mustClose(t, l)
		lines := strings.SplitAfter(strings.Join(out.got(), ""), "\n")
		whole := string(appendEntry(nil, format{}, &seconds{}, sample()))
		if len(lines) != 4 || lines[0] != whole || lines[1] != whole[:10]+"\n" || lines[2] != whole || lines[3] != "" {
			t.Errorf("got %q", lines)
		}
	})
}

func TestLogCloseReportsAFailedWrite(t *testing.T) {
	out := newMemory()
	out.take = 0
	l := newLog(out, Options{Format: Text}, "")
	l.Write(sample(), nil)
	if err := l.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close() = %v, want ENOSPC", err)
	}
	if l.Dropped() != 1 {
		t.Errorf("Dropped() = %d, want 1", l.Dropped())
	}
}

// Nobody reads the pipe: Write goes on, memory stays bounded, what does not fit is counted, and Close ends.
func TestLogBlockedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	l := newLog(w, Options{Format: JSON}, "")
	length := len(appendEntry(nil, format{json: true}, &seconds{}, sample()))
	lines := 4 * maxBuffer / length
	for range lines {
		l.Write(sample(), nil)
	}
	if l.Dropped() == 0 {
		t.Error("nothing was dropped")
	}
	l.mu.Lock()
	if len(l.buf) > maxBuffer || cap(l.buf) > 2*maxBuffer {
		t.Errorf("buffer of %d bytes, room for %d", len(l.buf), cap(l.buf))
	}
	l.mu.Unlock()
	e, space := sample(), []byte(nil)
	if allocs := testing.AllocsPerRun(100, func() { space = l.Write(e, space) }); allocs != 0 {
		t.Errorf("%v allocations for a line that is dropped", allocs)
	}
	if err := l.Close(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Close() = %v, want a deadline error", err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	// 101 runs of the allocation test were written too; the line torn by the deadline counts as dropped.
	written := strings.Count(string(got), "\n")
	if total := written + int(l.Dropped()); total != lines+101 {
		t.Errorf("%d written and %d dropped of %d", written, l.Dropped(), lines+101)
	}
}

func TestLogWriteAllocatesNothing(t *testing.T) {
	for _, format := range []string{JSON, Text} {
		t.Run(format, func(t *testing.T) {
			l, err := Open(Options{Output: os.DevNull, Format: format})
			if err != nil {
				t.Fatal(err)
			}
			defer mustClose(t, l)
			// The few times that a buffer grows are less than one allocation a line, which counts as none.
			e, space := sample(), []byte(nil)
			if allocs := testing.AllocsPerRun(1000, func() { space = l.Write(e, space) }); allocs != 0 {
				t.Errorf("%v allocations a line", allocs)
			}
		})
	}
}

func TestLogReopenAfterRename(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	l, err := Open(Options{Output: path, Format: Text})
	if err != nil {
		t.Fatal(err)
	}
	write := func(host string) {
		e := sample()
		e.Host = []byte(host)
		l.Write(e, nil)
	}
	write("one.example")
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	write("two.example")
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	write("three.example")
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	write("four.example")
	mustClose(t, l)
	for file, want := range map[string]string{path + ".1": "one.example two.example", path: "three.example four.example"} {
		if got := strings.Join(hosts(t, file), " "); got != want {
			t.Errorf("%s: %s, want %s", filepath.Base(file), got, want)
		}
	}
	if err := l.Reopen(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Reopen after Close = %v", err)
	}
}

func TestLogReopenKeepsTheOldFileOnAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "access.log")
	l, err := Open(Options{Output: path, Format: Text})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Reopen() = %v, want ErrNotExist", err)
	}
	l.Write(sample(), nil)
	mustClose(t, l)
	if got := hosts(t, filepath.Join(dir+".moved", "access.log")); len(got) != 1 {
		t.Errorf("the old file has %q", got)
	}
}

func hosts(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for line := range strings.Lines(string(b)) {
		hosts = append(hosts, strings.Fields(line)[4])
	}
	return hosts
}

func TestOpenAppendsWithMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	for range 2 {
		l, err := Open(Options{Output: path, Format: JSON})
		if err != nil {
			t.Fatal(err)
		}
		l.Write(sample(), nil)
		mustClose(t, l)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "\n"); n != 2 {
		t.Errorf("%d lines after opening twice", n)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm()&^0o640 != 0 {
		t.Errorf("mode %v, want at most 0640", info.Mode())
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, output, format string
		want                 error
	}{
		{"format", "stdout", "xml", nil},
		{"directory", dir, JSON, syscall.EISDIR},
		{"no such folder", filepath.Join(dir, "none", "access.log"), JSON, os.ErrNotExist},
		{"pipe without a reader", fifo, JSON, syscall.ENXIO},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := Open(Options{Output: tt.output, Format: tt.format})
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("Open = %v, %v, want %v", l, err, tt.want)
			}
		})
	}
}

func TestOpenOff(t *testing.T) {
	l, err := Open(Options{Output: "off", Format: JSON})
	if err != nil {
		t.Fatal(err)
	}
	l.Write(sample(), nil)
	if err := errors.Join(l.Reopen(), l.Close()); err != nil || l.Dropped() != 0 {
		t.Errorf("off: %v, %d dropped", err, l.Dropped())
	}
}

func TestOpenStandardStreams(t *testing.T) {
	for _, output := range []string{"stdout", "stderr"} {
		l, err := Open(Options{Output: output, Format: JSON})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.Reopen(), l.Close()); err != nil {
			t.Errorf("%s: %v", output, err)
		}
	}
	if _, err := os.Stdout.Stat(); err != nil {
		t.Errorf("closing the log closed stdout: %v", err)
	}
}

// Many writers, reopening all the while: every line arrives whole, in one of the files.
func TestLogConcurrent(t *testing.T) {
	const writers, lines = 8, 500
	dir := t.TempDir()
	path := filepath.Join(dir, "access.log")
	l, err := Open(Options{Output: path, Format: Text})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range lines {
				l.Write(sample(), nil)
			}
		})
	}
	for i := range 20 {
		if err := errors.Join(os.Rename(path, filepath.Join(dir, "old"+string(rune('a'+i)))), l.Reopen()); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
	mustClose(t, l)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	total, whole := 0, string(appendEntry(nil, format{}, &seconds{}, sample()))
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if total++; line != whole {
				t.Fatalf("torn line %q", line)
			}
		}
	}
	if want := writers*lines - int(l.Dropped()); total != want {
		t.Errorf("%d lines, want %d", total, want)
	}
}

func BenchmarkLogWrite(b *testing.B) {
	for _, format := range []string{JSON, Text} {
		b.Run(format, func(b *testing.B) {
			l, err := Open(Options{Output: os.DevNull, Format: format})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				e, space := sample(), []byte(nil)
				for pb.Next() {
					space = l.Write(e, space)
				}
			})
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(l.Dropped())/float64(b.N), "dropped/op")
		})
	}
}
