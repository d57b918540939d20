package statefile

import (
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Many who save at once share writes: there is one at a time, each caller's list is in the file when its call
// returns, and all who came during one write need only one more.
func TestSavesShareWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	synctest.Test(t, func(t *testing.T) {
		var changed, writing, writes atomic.Int64
		var saved atomic.Uint64
		lists := func() []Pool {
			if writing.Add(1) > 1 {
				t.Error("two writes at once")
			}
			defer writing.Add(-1)
			writes.Add(1)
			n := changed.Load()
			time.Sleep(time.Second)
			saved.Store(uint64(n))
			return []Pool{{Name: "api", Revision: uint64(n)}}
		}
		f := Open(path, lists, time.Now)
		var group sync.WaitGroup
		save := func() {
			group.Go(func() {
				mine := uint64(changed.Add(1))
				if err := f.Save(); err != nil {
					t.Error(err)
				}
				if saved.Load() < mine {
					t.Errorf("change %d is acknowledged, the file has %d", mine, saved.Load())
				}
			})
		}
		save()
		synctest.Wait() // the first one writes
		for range 100 {
			save()
		}
		group.Wait()
		if n := writes.Load(); n != 2 {
			t.Errorf("%d writes for 101 callers, want 2", n)
		}
	})
}
