package accesslog

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	// maxBuffer bounds the bytes that wait for the output; what does not fit is dropped. It is a quarter of a
	// second at 45,000 requests a second.
	maxBuffer = 4 << 20
	// flushSize is how full the buffer gets before it is written ahead of flushDelay: some 700 lines, so that
	// a write and what wakes the writer are few beside the requests.
	flushSize = 256 << 10
	// flushDelay is how long a line waits at most; with the write itself a line is out within a second.
	flushDelay = 250 * time.Millisecond
	// closeDelay is how long Close waits for the output, and then for the writer to give up.
	closeDelay = time.Second
)

// The formats.
const (
	JSON = "json"
	Text = "text"
)

// Options say where an access log goes.
type Options struct {
	// Output is "stdout", "stderr", "off" or the path of a file, which is created with mode 0640 and appended
	// to.
	Output string
	// Format is [JSON] or [Text].
	Format string
	// Log is told when lines are lost and when that has ended, and when the file is opened anew; nil: nobody.
	Log *slog.Logger
}

// output is where lines go. *os.File is one.
type output interface {
	Write(p []byte) (int, error)
	Close() error
	// SetWriteDeadline ends a Write that is waiting, where the output can do that.
	SetWriteDeadline(t time.Time) error
	Stat() (os.FileInfo, error)
}

// Log is an access log. All methods may be called from any goroutine. Open makes one; it must be closed.
type Log struct {
	format format
	// path of the file that is opened anew after it was moved; empty for stdout, stderr and off.
	path string
	// off is set where nothing is written at all.
	off bool
	log *slog.Logger

	loss    loss
	seconds seconds

	mu sync.Mutex
	// buf holds whole lines that the writer has not taken yet.
	buf []byte
	// next takes over from the output at buf[mark:]; nil unless Reopen was called.
	next   output
	mark   int
	closed bool

	// wake says that there is something to write, hurry that it must not wait for more. Both hold one
	// signal and are sent to without blocking.
	wake, hurry chan struct{}
	closeOnce   sync.Once
	quit        chan struct{}
	// done is closed by the writer, reported by the goroutine that tells of losses.
	done, reported chan struct{}
	// out is what Close interrupts. The writer alone changes it, under mu.
	out output
	// closeErr is what Close returns; set before done is closed.
	closeErr error
}

// Open opens a log.
func Open(o Options) (*Log, error) {
	if o.Format != JSON && o.Format != Text {
		return nil, fmt.Errorf("opening access log: unknown format %q: must be json or text", o.Format)
	}
	switch o.Output {
	case "off":
		return &Log{off: true}, nil
	case "stdout":
		return newLog(keepOpen{os.Stdout}, o, ""), nil
	case "stderr":
		return newLog(keepOpen{os.Stderr}, o, ""), nil
	}
	f, err := openFile(o.Output)
	if err != nil {
		return nil, fmt.Errorf("opening access log: %w", err)
	}
	return newLog(f, o, o.Output), nil
}

// newLog starts a log on an output; path is empty where that is not to be opened anew.
func newLog(out output, o Options, path string) *Log {
	l := &Log{
		format:   format{json: o.Format == JSON},
		path:     path,
		log:      o.Log,
		loss:     loss{begun: make(chan struct{}, 1)},
		out:      out,
		wake:     make(chan struct{}, 1),
		hurry:    make(chan struct{}, 1),
		quit:     make(chan struct{}),
		done:     make(chan struct{}),
		reported: make(chan struct{}),
	}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	go l.write()
	go l.report()
	return l
}

// Write adds a line, which it makes in space. It returns space for the next line. It does no I/O, holds nobody up for
// longer than copying the line takes, and does not allocate once the buffers have grown to their working size. A line that
// does not fit, because the output stands still, is dropped and counted.
func (l *Log) Write(e *Entry, space []byte) []byte {
	if l.off {
		return space
	}
	line := appendEntry(space[:0], l.format, &l.seconds, e)
	l.mu.Lock()
	before := len(l.buf)
	after := before + len(line)
	if after > maxBuffer || l.closed {
		l.mu.Unlock()
		l.loss.add(1)
		return line
	}
	l.buf = append(l.buf, line...)
	l.mu.Unlock()
	if before == 0 {
		signal(l.wake)
	}
	if before < flushSize && after >= flushSize {
		signal(l.hurry)
	}
	return line
}

// Dropped is how many lines were lost so far, because the output stood still or failed.
func (l *Log) Dropped() uint64 { return l.loss.lines.Load() }

// Reopen opens the file by its path again, for a log rotation that renamed it: lines written before the
// call go to the old file, later ones to the new. On an error the old file stays. Outputs other than a
// file have nothing to reopen.
func (l *Log) Reopen() error {
	if l.path == "" {
		return nil
	}
	f, err := openFile(l.path)
	if err != nil {
		return fmt.Errorf("reopening access log: %w", err)
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return errors.Join(fmt.Errorf("reopening access log: %w", os.ErrClosed), f.Close())
	}
	unused := l.next
	if unused == nil {
		l.mark = len(l.buf)
	}
	l.next = f
	l.mu.Unlock()
	signal(l.wake)
	signal(l.hurry)
	if unused != nil {
		return unused.Close()
	}
	return nil
}

// Close writes what is waiting and closes the file. It takes three seconds at most: an output that stands
// still loses the rest, which the error says. Lines written after Close are dropped.
func (l *Log) Close() error {
	if l.off {
		return nil
	}
	l.closeOnce.Do(func() {
		l.mu.Lock()
		l.closed = true
		l.mu.Unlock()
		close(l.quit)
	})
	ended := ends(l.done)
	if !ended {
		l.mu.Lock()
		out := l.out
		l.mu.Unlock()
		// A pipe can be told to give up. A disk that hangs cannot: the goroutine is left behind then, and the
		// process is about to end.
		ended = out.SetWriteDeadline(time.Unix(1, 0)) == nil && ends(l.done)
	}
	ends(l.reported) // or it waits for a process log that stands still too
	if !ended {
		return errors.New("closing access log: the output stands still")
	}
	return l.closeErr
}

// ends waits for a goroutine to end, for closeDelay at most.
func ends(done <-chan struct{}) bool {
	timeout := time.NewTimer(closeDelay)
	defer timeout.Stop()
	select {
	case <-done:
		return true
	case <-timeout.C:
		return false
	}
}

// signal sends without blocking; one signal that is waiting already is enough.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// keepOpen is an output that belongs to the process.
type keepOpen struct{ *os.File }

func (keepOpen) Close() error { return nil }
