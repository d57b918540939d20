package accesslog

import (
	"bytes"
	"fmt"
	"time"
)

// write is the single writer. It sleeps until there is a line, then gives others flushDelay to join it
// unless the buffer fills up before.
func (l *Log) write() {
	defer close(l.done)
	w := writer{log: l, out: l.out}
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
	// An error of the last write matters more than one of closing.
	if err := w.out.Close(); w.err == nil {
		w.err = err
	}
	if w.err != nil {
		l.closeErr = fmt.Errorf("closing access log: %w", w.err)
	}
}

// writer is the goroutine's side of the double buffer.
type writer struct {
	log *Log
	out output
	// spare is the buffer that is swapped in next.
	spare []byte
	// torn is set when the output took a part of a line: the next write ends that line first.
	torn bool
	// err is what came of the last write.
	err error
	// place is how it stands with the file's path.
	place place
}

// flush swaps the buffers and writes. Only the swap holds the mutex.
func (w *writer) flush() {
	l := w.log
	l.mu.Lock()
	full := l.buf
	l.buf = w.spare[:0]
	next, mark := l.next, len(full)
	if next != nil {
		mark = l.mark
		l.next = nil
	}
	l.mu.Unlock()

	if next == nil {
		w.look(time.Now())
	}
	w.lines(full[:mark])
	if next != nil {
		w.switchTo(next)
		w.lines(full[mark:])
	}
	w.spare = full
}

// switchTo makes next the output.
func (w *writer) switchTo(next output) {
	// The old file is gone from its path: an error of its Close could not be acted on.
	_ = w.out.Close()
	w.out, w.torn, w.place = next, false, place{}
	w.log.mu.Lock()
	w.log.out = next
	w.log.mu.Unlock()
}

// lines hands whole lines to the output and counts those that it did not take whole.
func (w *writer) lines(lines []byte) {
	if len(lines) == 0 {
		return
	}
	if w.place.lost != nil {
		w.failed(lines, w.place.lost)
		return
	}
	if w.torn {
		if _, err := w.out.Write([]byte{'\n'}); err != nil {
			w.failed(lines, err)
			return
		}
		w.torn = false
	}
	n, err := w.out.Write(lines)
	if err != nil {
		w.torn = n > 0 && lines[n-1] != '\n'
		w.failed(lines[n:], err)
		return
	}
	w.err = nil
	w.log.loss.whole()
}

func (w *writer) failed(lines []byte, err error) {
	w.err = err
	w.log.loss.because(err)
	w.log.loss.add(uint64(bytes.Count(lines, []byte{'\n'})))
}
