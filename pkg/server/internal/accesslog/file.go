package accesslog

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// openFile opens a file to append to. O_NONBLOCK matters for a named pipe only: without a reader the
// open fails at once instead of hanging.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o640)
}

// lookDelay is how often the writer looks whether the file is still at its path.
const lookDelay = time.Second

// place is how it stands with the path of the file that is written to.
type place struct {
	looked time.Time
	// moved is set while another file, or none, is at the path and it cannot be opened.
	moved bool
	// lost says why lines cannot be written any more: the file has no name left, and a new one cannot be made.
	// Nobody would ever read what goes there.
	lost error
}

// look opens the file anew if it was moved away or removed. If that fails the old one is written to for as
// long as it has a name somewhere.
func (w *writer) look(now time.Time) {
	path := w.log.path
	if path == "" || now.Sub(w.place.looked) < lookDelay {
		return
	}
	w.place.looked = now
	ours, err := w.out.Stat()
	if err != nil {
		return // so its writes fail too, and say why
	}
	there, err := os.Stat(path)
	if err == nil && os.SameFile(ours, there) {
		w.place.moved, w.place.lost = false, nil
		return
	}
	// Any other error is of the path, not of the file: opening it says so again.
	f, err := openFile(path)
	if err == nil {
		w.switchTo(f)
		w.place.looked = now
		w.log.log.Info("access log opened anew, the file was moved away", "path", path)
		return
	}
	w.place.lost = nil
	if nameless(ours) {
		w.place.lost = fmt.Errorf("the file was removed: %w", err)
	}
	if !w.place.moved {
		w.place.moved = true
		w.log.log.Warn("access log cannot be opened anew, its file was moved away", "path", path, "error", err)
	}
}

// nameless tells whether a file that is open has been removed.
func nameless(f os.FileInfo) bool {
	st, ok := f.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 0
}
