package accesslog

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// processLog keeps what the log says about itself.
type processLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *processLog) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *processLog) logger() *slog.Logger {
	noTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	return slog.New(slog.NewTextHandler(p, &slog.HandlerOptions{ReplaceAttr: noTime}))
}

// lines are what was said so far.
func (p *processLog) lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Split(strings.TrimSuffix(p.text.String(), "\n"), "\n")
}

func (p *processLog) count(part string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Count(p.text.String(), part)
}

// fileLog opens a log on a file in a folder of its own, inside a bubble.
func fileLog(t *testing.T) (l *Log, said *processLog, path string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "logs")
	if err := os.Mkdir(folder, 0o750); err != nil {
		t.Fatal(err)
	}
	said, path = &processLog{}, filepath.Join(folder, "access.log")
	l, err := Open(Options{Output: path, Format: Text, Log: said.logger()})
	if err != nil {
		t.Fatal(err)
	}
	return l, said, path
}

// put writes a line for a host and lets the time of the bubble go on until it is out, and for another look at
// the path.
func put(l *Log, host string) {
	e := sample()
	e.Host = []byte(host)
	l.Write(e, nil)
	<-time.After(lookDelay + flushDelay)
	synctest.Wait()
}

func wantHosts(t *testing.T, file, want string) {
	t.Helper()
	if got := strings.Join(hosts(t, file), " "); got != want {
		t.Errorf("%s has %q, want %q", filepath.Base(file), got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFileMovedAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, said, path := fileLog(t)
		put(l, "one")
		must(t, os.Rename(path, path+".1"))
		put(l, "two")
		put(l, "three")
		must(t, os.Remove(path))
		put(l, "four")
		mustClose(t, l)
		wantHosts(t, path+".1", "one")
		wantHosts(t, path, "four")
		if n := said.count("opened anew"); n != 2 || l.Dropped() != 0 {
			t.Errorf("opened anew %d times, %d lines dropped: %q", n, l.Dropped(), said.lines())
		}
	})
}

// Between two looks lines go where the last one found the file.
func TestFileIsLookedAtOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, path := fileLog(t)
		put(l, "one")
		l.Write(sample(), nil)
		time.Sleep(flushDelay) // this write looks
		synctest.Wait()
		must(t, os.Rename(path, path+".1"))
		l.Write(sample(), nil)
		time.Sleep(flushDelay) // this one does not
		synctest.Wait()
		if n := len(hosts(t, path+".1")); n != 3 {
			t.Errorf("%d lines in the old file, want 3", n)
		}
		put(l, "two")
		put(l, "three")
		mustClose(t, l)
		if got := hosts(t, path); got[len(got)-1] != "three" {
			t.Errorf("the new file has %q", got)
		}
	})
}

// The folder was renamed: the file is still there under another name, and is written to until there is a
// folder again.
func TestFileFolderMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, said, path := fileLog(t)
		folder := filepath.Dir(path)
		must(t, os.Rename(folder, folder+".old"))
		put(l, "one")
		put(l, "two")
		must(t, os.Mkdir(folder, 0o750))
		put(l, "three")
		mustClose(t, l)
		wantHosts(t, filepath.Join(folder+".old", "access.log"), "one two")
		wantHosts(t, path, "three")
		if l.Dropped() != 0 || said.count("cannot be opened anew") != 1 || said.count("msg=\"access log opened anew") != 1 {
			t.Errorf("%d dropped, said %q", l.Dropped(), said.lines())
		}
	})
}

// The folder was removed with the file: whatever is written to it is gone, so it counts as lost.
func TestFileFolderRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, said, path := fileLog(t)
		folder := filepath.Dir(path)
		put(l, "one")
		must(t, os.RemoveAll(folder))
		put(l, "two")
		put(l, "three")
		if l.Dropped() != 2 || said.count("access log lines are lost") != 1 || said.count("the file was removed") != 1 {
			t.Errorf("%d dropped, said %q", l.Dropped(), said.lines())
		}
		must(t, os.Mkdir(folder, 0o750))
		put(l, "four")
		time.Sleep(2 * calm)
		mustClose(t, l)
		wantHosts(t, path, "four")
		if l.Dropped() != 2 || said.count("written again\" lost=2") != 1 {
			t.Errorf("%d dropped, said %q", l.Dropped(), said.lines())
		}
	})
}

// A path that leads to another file from now on is opened anew too.
func TestFileLinkChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		link, first, second := filepath.Join(folder, "access.log"), filepath.Join(folder, "first"), filepath.Join(folder, "second")
		must(t, os.Symlink(first, link))
		l, err := Open(Options{Output: link, Format: Text})
		must(t, err)
		put(l, "one")
		must(t, os.Remove(link))
		must(t, os.Symlink(second, link))
		put(l, "two")
		mustClose(t, l)
		wantHosts(t, first, "one")
		wantHosts(t, second, "two")
	})
}
