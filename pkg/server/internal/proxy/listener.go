package proxy

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// probeAfter and probeEvery are when a silent connection is probed, in seconds: a tunnel has no other limit.
	probeAfter = 15
	probeEvery = 15
)

// Prepare sets on a listening TCP socket what its connections inherit. Set on each connection, the same would
// cost three system calls.
func Prepare(raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		set := func(level, option, value int) {
			failed = errors.Join(failed, unix.SetsockoptInt(int(fd), level, option, value))
		}
		set(unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
		set(unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, probeAfter)
		set(unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, probeEvery)
	})
	if err = errors.Join(err, failed); err != nil {
		return fmt.Errorf("preparing the listening socket: %w", err)
	}
	return nil
}
