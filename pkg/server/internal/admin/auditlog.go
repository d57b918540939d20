package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Entry is a line of the audit log: a change that was asked for, done or not.
type Entry struct {
	Time time.Time `json:"time"`
	// What was to change.
	What string `json:"what"`
	// Pool whose members were to change; "" where the change is not that of a pool.
	Pool string `json:"pool"`
	Who  Caller `json:"who"`
	// From is the address of the caller, "socket" where it has none and "-" for a signal.
	From string `json:"from"`
	// Before and After are revisions of the pool; 0 where there is none.
	Before uint64 `json:"revision_before"`
	After  uint64 `json:"revision_after"`
	// Result is one of the results below.
	Result string `json:"result"`
	// Detail says how much was changed, or why not.
	Detail string `json:"detail"`
}

// What can come of a change.
const (
	ResultDone      = "done"
	ResultUnchanged = "unchanged" // it was so already
	ResultRefused   = "refused"
	ResultFailed    = "failed"
)

// auditPatience is how long a line waits for an output that takes nothing, where the output can tell.
const auditPatience = time.Second

// AuditLog writes a line of JSON for each change. A change waits for its line, but never fails for it: to
// undo what the traffic follows already because a disk is full would be the greater harm. A line that could
// not be written goes to the process log instead, and is counted.
//
// Its methods may be called from any goroutine.
type AuditLog struct {
	log    *slog.Logger
	now    func() time.Time
	failed atomic.Uint64

	mu  sync.Mutex
	out *AuditOutput
}

// AuditOutput is where an audit log writes.
type AuditOutput struct {
	// path is empty for a stream.
	path string
	file auditFile
	// torn is set where a line was written in part: the next one ends it first.
	torn bool
}

// auditFile is what is needed of a file.
type auditFile interface {
	io.WriteCloser
	SetWriteDeadline(time.Time) error
}

// OpenAuditOutput opens the file at a path, which is created with mode 0640 and appended to.
func OpenAuditOutput(output string) (*AuditOutput, error) {
	// O_NONBLOCK matters for a named pipe only: without a reader the open fails at once instead of hanging.
	f, err := os.OpenFile(output, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o640)
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	return &AuditOutput{path: output, file: f}, nil
}

// AuditStream writes to a stream that belongs to somebody else, stderr for example.
func AuditStream(w io.Writer) *AuditOutput { return &AuditOutput{file: borrowed{w}} }

// Close closes an output that no log uses.
func (o *AuditOutput) Close() error { return o.file.Close() }

// borrowed is an output that is not closed here.
type borrowed struct{ io.Writer }

func (borrowed) Close() error                     { return nil }
func (borrowed) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

// NewAuditLog writes to an output. log gets what could not be written.
func NewAuditLog(out *AuditOutput, log *slog.Logger, now func() time.Time) *AuditLog {
	return &AuditLog{out: out, log: log, now: now}
}

// Record writes a line. The time of the entry is set here.
func (l *AuditLog) Record(e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Time = l.now().UTC().Truncate(time.Millisecond)
	line, err := json.Marshal(e)
	if err == nil {
		err = l.out.write(append(line, '\n'))
	}
	if err != nil {
		l.failed.Add(1)
		l.log.Error("writing the audit log failed, the change stands", "error", err, "line", string(line))
	}
}

// write writes a line whole, or says why not.
func (o *AuditOutput) write(line []byte) error {
	if o.torn {
		line = append([]byte{'\n'}, line...)
	}
	_ = o.file.SetWriteDeadline(time.Now().Add(auditPatience)) // a disk has no deadline
	n, err := o.file.Write(line)
	if err != nil {
		o.torn = o.torn && n == 0 || n > 0
		return err
	}
	o.torn = false
	return nil
}

// Failed is how many lines could not be written.
func (l *AuditLog) Failed() uint64 { return l.failed.Load() }

// Use writes to another output from now on and closes the one before.
func (l *AuditLog) Use(out *AuditOutput) error {
	l.mu.Lock()
	before := l.out
	l.out = out
	l.mu.Unlock()
	return before.Close()
}

// Reopen opens the file by its path again, for a rotation that renamed it. On an error the old file stays.
func (l *AuditLog) Reopen() error {
	l.mu.Lock()
	path := l.out.path
	l.mu.Unlock()
	if path == "" {
		return nil
	}
	out, err := OpenAuditOutput(path)
	if err != nil {
		return fmt.Errorf("reopening: %w", err)
	}
	return l.Use(out)
}

// Close closes the output. A line that comes later goes to the process log.
func (l *AuditLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.out.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("closing audit log: %w", err)
	}
	return nil
}
