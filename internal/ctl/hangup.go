package ctl

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// hangupLook is how soon a command that waits for something to write notices that nobody reads any more.
const hangupLook = 500 * time.Millisecond

// untilHangup is a context that ends when the reader of a pipe has gone: a command that follows what happens may
// have nothing to write for hours, and would stay for so long.
func untilHangup(parent context.Context, out io.Writer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	f, ok := stream(out).(*os.File)
	if !ok {
		return ctx, cancel
	}
	fd := int32(f.Fd())
	go func() {
		defer cancel()
		for ctx.Err() == nil {
			events := []unix.PollFd{{Fd: fd}} // errors and hang-ups are always told
			n, err := unix.Poll(events, int(hangupLook.Milliseconds()))
			if n > 0 && events[0].Revents != 0 || err != nil && err != unix.EINTR {
				return
			}
		}
	}()
	return ctx, cancel
}
