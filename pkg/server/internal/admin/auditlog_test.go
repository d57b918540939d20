package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// memory is a file in memory that takes as many bytes as fail says before it fails; nil: all.
type memory struct {
	mu   sync.Mutex
	text bytes.Buffer
	fail *int
}

func (m *memory) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil && *m.fail < len(p) {
		n, _ := m.text.Write(p[:*m.fail])
		return n, syscall.ENOSPC
	}
	return m.text.Write(p)
}

func (m *memory) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.String()
}

func (*memory) Close() error                       { return nil }
func (*memory) SetWriteDeadline(_ time.Time) error { return os.ErrNoDeadline }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// A line that cannot be written is counted and told; the next one does not hang on to its beginning.
func TestAuditFails(t *testing.T) {
	for name, took := range map[string]int{"nothing was taken": 0, "a part was taken": 10} {
		t.Run(name, func(t *testing.T) {
			var told bytes.Buffer
			m := &memory{fail: &took}
			l := NewAuditLog(&AuditOutput{file: m}, slog.New(slog.NewTextHandler(&told, nil)), noon)
			l.Record(Entry{What: "first", Who: Unknown{}})
			if l.Failed() != 1 || !strings.Contains(told.String(), "level=ERROR") || !strings.Contains(told.String(), "first") {
				t.Errorf("failed %d, told: %s", l.Failed(), told.String())
			}
			m.fail = nil
			l.Record(Entry{What: "second", Who: Unknown{}})
			lines := strings.Split(strings.TrimSuffix(m.String(), "\n"), "\n")
			if last := lines[len(lines)-1]; !json.Valid([]byte(last)) || !strings.Contains(last, "second") {
				t.Errorf("after the failure: %q", m.String())
			}
			if len(lines) != 1+min(took, 1) || l.Failed() != 1 {
				t.Errorf("%d lines, %d failed: %q", len(lines), l.Failed(), m.String())
			}
		})
	}
}

// A change that cannot be audited is made, and said to be.
func TestChangeWithoutItsAuditLine(t *testing.T) {
	f := newFixture(t)
	f.audit.fail = new(int)
	if res := f.do("PUT", "/v1/upstreams/api", `{"members": []}`); res.StatusCode != 200 || len(f.runtime.calls) != 1 {
		t.Errorf("%s, %d calls", res.Status, len(f.runtime.calls))
	}
	if !strings.Contains(f.log.String(), "writing the audit log failed, the change stands") {
		t.Errorf("log: %s", f.log.String())
	}
}

func TestAuditReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	out, err := OpenAuditOutput(path)
	if err != nil {
		t.Fatal(err)
	}
	l := NewAuditLog(out, quiet(), noon)
	defer l.Close()
	l.Record(Entry{What: "before", Who: Signal{"SIGHUP"}})
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	l.Record(Entry{What: "between", Who: Unknown{}})
	if err := l.Reopen(); err != nil {
		t.Fatal(err)
	}
	l.Record(Entry{What: "after", Who: Unknown{}})
	text := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	const first = `{"time":"2026-11-29T12:00:00Z","what":"before","pool":"","who":{"signal":"SIGHUP"},"from":"",` +
		`"revision_before":0,"revision_after":0,"result":"","detail":""}`
	old := strings.Split(text(path+".1"), "\n")
	if diff := cmp.Diff(first, old[0]); diff != "" || len(old) != 3 || !strings.Contains(old[1], "between") {
		t.Errorf("old file: %q\n%s", old, diff)
	}
	if now := text(path); strings.Count(now, "\n") != 1 || !strings.Contains(now, "after") {
		t.Errorf("new file: %q", now)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := l.Reopen(); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("over a folder: %v", err)
	}
	l.Record(Entry{What: "still", Who: Unknown{}})
	if l.Failed() != 0 {
		t.Error("the old file was not kept")
	}
}

// A pipe that nobody reads holds a change up for a moment, not for ever.
func TestAuditPipeThatStandsStill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAuditOutput(path); !errors.Is(err, syscall.ENXIO) {
		t.Fatalf("without a reader: %v", err)
	}
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	out, err := OpenAuditOutput(path)
	if err != nil {
		t.Fatal(err)
	}
	l := NewAuditLog(out, quiet(), noon)
	defer l.Close()
	long := Entry{What: strings.Repeat("x", 60_000), Who: Unknown{}}
	for l.Failed() == 0 { // until the pipe is full
		l.Record(long)
	}
	if _, err := io.CopyN(io.Discard, reader, 60_000); err != nil {
		t.Fatal(err)
	}
	l.Record(Entry{What: "short", Who: Unknown{}})
	if l.Failed() != 1 {
		t.Errorf("%d lines failed", l.Failed())
	}
}

// 501 comes after 404 and before everything else.
func TestNoRuntimeMembers(t *testing.T) {
	f := newFixture(t)
	f.runtime.fixed = true
	const detail = "members cannot be set at run time here (admin.runtime_members: false)"
	for _, target := range []string{"/v1/upstreams/api", "/v1/upstreams/file"} { // before 409, 413 and 400
		f.expectProblem(t, f.do("PUT", target, strings.Repeat("x", 3<<20)), 501, "no_runtime_members", detail)
	}
	if res := f.do("PUT", "/v1/upstreams/none", "{"); res.StatusCode != 404 {
		t.Errorf("no pool: %s", res.Status)
	}
	if res := f.do("GET", "/v1/upstreams/api", ""); res.StatusCode != 200 {
		t.Errorf("GET: %s", res.Status)
	}
	if lines := f.lines(); len(lines) != 3 || !strings.Contains(lines[0], `"result":"refused","detail":"`+detail) {
		t.Errorf("audit: %q", lines)
	}
}
