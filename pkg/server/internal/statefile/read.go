package statefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// maxSize bounds what is read, in bytes: room for a thousand pools of the largest size.
const maxSize = 1 << 30

// DamagedError is a file that is not a state. It was kept aside.
type DamagedError struct {
	Path string
	// Kept is where it is now; empty where it could not be moved.
	Kept string
	Err  error
}

func (e *DamagedError) Error() string {
	if e.Kept == "" {
		return fmt.Sprintf("state file %s cannot be used: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("state file %s cannot be used and is now %s: %v", e.Path, e.Kept, e.Err)
}

// Unwrap gives the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// OldError is a state that is older than allowed.
type OldError struct {
	Path    string
	Written time.Time
	MaxAge  time.Duration
}

func (e *OldError) Error() string {
	return fmt.Sprintf("state file %s is ignored: it was written at %s, longer ago than %v",
		e.Path, e.Written.UTC().Format(time.RFC3339), e.MaxAge)
}

// Read reads the file at path. No file is a state without pools and no error. A file that cannot be used is
// moved aside, with .bad behind its name, and gives a [*DamagedError]; one from before now-maxAge gives an
// [*OldError]. The state has no pools then.
func Read(path string, now time.Time, maxAge time.Duration) (State, error) {
	text, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	var s State
	if err == nil {
		s, err = decode(text)
	}
	if err != nil {
		damaged := &DamagedError{Path: path, Err: err}
		if moved := os.Rename(path, path+".bad"); moved == nil {
			damaged.Kept = path + ".bad"
		}
		return State{}, damaged
	}
	if now.Sub(s.Written) > maxAge {
		return State{}, &OldError{Path: path, Written: s.Written, MaxAge: maxAge}
	}
	return s, nil
}

// read reads a regular file: a pipe would not end.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > maxSize:
		return nil, fmt.Errorf("larger than %d bytes", maxSize)
	}
	return os.ReadFile(path)
}
