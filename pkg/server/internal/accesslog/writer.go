package accesslog

import (
	"bytes"
	"fmt"
	"time"
)

// run is the single writer. It sleeps until there is a line, then gives others flushDelay to join it
// unless the buffer fills up before.
func (l *Log) run() {
	defer close(l.done)
	w := writer{log: l}
	timer := time.NewTimer(flushDelay)
	defer timer.Stop()
	for quitting := false; !quitting; {
		select {
		case <-l.wake:
			timer.Reset(flushDelay)
			select {
			case <-timer.C:
			case <-l.hurry:
			case <-l.quit:
				quitting = true
			}
		case <-l.quit:
			quitting = true
		}
		w.flush()
	}
	if err := w.close(); err != nil {
		l.closeErr = fmt.Errorf("closing access log: %w", err)
	}
}

// writer is the goroutine's side of the double buffer.
type writer struct {
	log *Log
	// spare is the buffer that is swapped in next.
	spare []byte
	// torn is set when the output took a part of a line: the next write ends that line first.
	torn bool
	// err is what came of the last write.
	err error
}

// flush swaps the buffers and writes. Only the swap holds the mutex.
func (w *writer) flush() {
	l := w.log
	l.mu.Lock()
	full, out := l.buf, l.out
	l.buf = w.spare[:0]
	next, mark := l.next, len(full)
	if next != nil {
		mark = l.mark
		l.next = nil
	}
	l.mu.Unlock()

	w.write(out, full[:mark])
	if next != nil {
		// The old file is gone from its path: an error of its Close could not be acted on.
		_ = out.Close()
		l.mu.Lock()
		l.out = next
		l.mu.Unlock()
		w.torn = false
		w.write(next, full[mark:])
	}
	w.spare = full
}

// write hands whole lines to the output and counts those that it did not take whole.
func (w *writer) write(out output, lines []byte) {
	if len(lines) == 0 {
		return
	}
	w.err = nil
	if w.torn {
		if _, err := out.Write([]byte{'\n'}); err != nil {
			w.failed(lines, err)
			return
		}
		w.torn = false
	}
	n, err := out.Write(lines)
	if err == nil {
		return
	}
	w.torn = n > 0 && lines[n-1] != '\n'
	w.failed(lines[n:], err)
}

func (w *writer) failed(lines []byte, err error) {
	w.log.dropped.Add(uint64(bytes.Count(lines, []byte{'\n'})))
	w.err = err
}

// close closes the output. An error of the last write matters more than one of closing.
func (w *writer) close() error {
	l := w.log
	l.mu.Lock()
	out := l.out
	l.mu.Unlock()
	err := out.Close()
	if w.err != nil {
		return w.err
	}
	return err
}
