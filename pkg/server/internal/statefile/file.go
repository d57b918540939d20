package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// File is a state file. Its methods may be called from any goroutine; Open makes one.
type File struct {
	path string
	// lists are the pools as they are at the moment of the call.
	lists func() []Pool
	now   func() time.Time

	// turn holds a signal while somebody writes; asked counts those who want the file written.
	turn  chan struct{}
	mu    sync.Mutex
	asked uint64

	// The rest belongs to the one whose turn it is. taken is asked when the last write began, err what came of
	// it, at when it was made.
	taken uint64
	err   error
	at    time.Time
}

// Open is the file at path, which need not exist. lists are the pools that are written, now is the clock.
func Open(path string, lists func() []Pool, now func() time.Time) *File {
	return &File{path: path, lists: lists, now: now, turn: make(chan struct{}, 1)}
}

// Save writes the lists of now and returns when they are on the disk. Several callers at once share a write
// that began after all of them had asked; there is never more than one. After an error the file
// holds the state before, or this one and the disk may not know of it yet.
func (f *File) Save() error {
	f.mu.Lock()
	f.asked++
	mine := f.asked
	f.mu.Unlock()

	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	if f.taken >= mine {
		return f.err
	}
	f.write()
	return f.err
}

// Refresh writes the lists again where the last write failed, or was made before then: a reader judges by the
// time in the file whether the lists can still be true. It reports whether it wrote.
func (f *File) Refresh(before time.Time) (wrote bool, err error) {
	f.turn <- struct{}{}
	defer func() { <-f.turn }()
	if f.err == nil && !f.at.Before(before) {
		return false, nil
	}
	f.write()
	return true, f.err
}

// write replaces the file. It is the writer's turn.
func (f *File) write() {
	f.mu.Lock()
	f.taken = f.asked
	f.mu.Unlock()
	f.at = f.now()
	text, err := encode(State{Schema: Schema, Written: f.at, Pools: f.lists()})
	if err == nil {
		err = replace(f.path, text)
	}
	if err != nil {
		err = fmt.Errorf("writing the state file: %w", err)
	}
	f.err = err
}

// replace puts text in the place of the file at path, whole or not at all, also when the machine stops: it is on
// the disk under another name before it gets its own, and the name is on the disk before this returns.
func replace(path string, text []byte) (err error) {
	temporary := path + ".tmp"
	// What a process that was killed has left is in the way. Only a file of ours is written to: not one that a
	// link leads to.
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	if err := os.Rename(temporary, path); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
