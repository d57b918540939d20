package loop

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls below return at once, because the descriptors are non-blocking. So the scheduler is not told of them
// (RawSyscall): telling it costs more than a tenth of a short read. They are those of sockets, whose way through the
// kernel is shorter than that of read and write.

func read(fd int, p []byte) (int, syscall.Errno) { return call(unix.SYS_RECVFROM, fd, p, 0) }

func write(fd int, p []byte) (int, syscall.Errno) {
	return call(unix.SYS_SENDTO, fd, p, unix.MSG_NOSIGNAL)
}

// peek looks at what could be read.
func peek(fd int) (int, syscall.Errno) {
	var b [1]byte
	return call(unix.SYS_RECVFROM, fd, b[:], unix.MSG_PEEK)
}

func call(number uintptr, fd int, p []byte, flags uintptr) (int, syscall.Errno) {
	for {
		n, _, err := syscall.RawSyscall6(number, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), flags, 0, 0)
		switch err {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, err
		}
	}
}

// epollWait waits for at most timeout milliseconds; -1: for ever.
func epollWait(fd int, events []unix.EpollEvent, timeout int) (int, syscall.Errno) {
	var n uintptr
	var err syscall.Errno
	if timeout == 0 {
		n, _, err = syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	} else {
		n, _, err = syscall.Syscall6(syscall.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(timeout), 0, 0)
	}
	if err != 0 {
		return 0, err
	}
	return int(n), 0
}

// slice is how long a loop wants to have a processor at a time, in nanoseconds.
const slice = 500e3

// askForShortSlices tells the system that this thread would rather have the processor soon than for long. That is a wish: a
// system that does not know it (before linux 6.12) or forbids to ask gives what it gives to all.
func askForShortSlices() {
	a, err := unix.SchedGetAttr(0, 0)
	if err != nil || a.Policy != unix.SCHED_NORMAL {
		return
	}
	a.Runtime = slice
	unix.SchedSetAttr(0, a, 0)
}

// processor is the number of the one that runs this thread; nowhere, if the system does not say.
func processor() int {
	var cpu uint32
	if _, _, err := syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); err != 0 {
		return nowhere
	}
	return int(cpu)
}
