package servertest

import (
	"os"
	"sync"
	"syscall"
	"testing"
)

// Exhaust takes all descriptors of the process until free is called. Whoever accepts meanwhile fails too: a member
// may have to be brought [Member.Down] and up again.
func Exhaust(t testing.TB) (free func()) {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	var taken []*os.File
	take := func() error {
		f, err := os.Open(os.DevNull)
		if err == nil {
			taken = append(taken, f)
		}
		return err
	}
	if err := take(); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = uint64(taken[0].Fd()) + 16
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	for take() == nil {
	}
	free = sync.OnceFunc(func() {
		for _, f := range taken {
			f.Close()
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(free)
	return free
}
