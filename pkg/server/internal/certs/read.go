package certs

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// maxFile bounds a file in bytes; the largest lists of CAs are a quarter of that.
const maxFile = 1 << 20

// settleTime is how long after its last change a file is read again even if it looks the same: two changes
// within one tick of the file system's clock cannot be told apart by their time. Two seconds is the coarsest
// tick there is.
const settleTime = 2 * time.Second

// stamp is what stat(2) says about the content of a file. A file that was renamed to its place is another
// inode, one that was written in place has another time of change, which, unlike that of modification,
// nobody can set back.
type stamp struct {
	device, inode     uint64
	size              int64
	modified, changed time.Time
}

func stampOf(name string, info fs.FileInfo) (stamp, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, fmt.Errorf("looking at %s: no inode", name)
	}
	if !info.Mode().IsRegular() {
		return stamp{}, fmt.Errorf("looking at %s: it is not a regular file", name)
	}
	return stamp{st.Dev, st.Ino, st.Size, info.ModTime(), time.Unix(st.Ctim.Unix())}, nil
}

// reading is what files had, and how they looked right before.
type reading struct {
	at     time.Time
	stamps []stamp
	texts  map[string][]byte
	digest [sha256.Size]byte
}

// readAll reads files. They are looked at first: a change that comes while they are read is seen with the
// next look.
func readAll(names []string, now time.Time) (reading, error) {
	r := reading{at: now, texts: make(map[string][]byte, len(names))}
	var err error
	if r.stamps, err = look(names); err != nil {
		return reading{}, err
	}
	digest := sha256.New()
	for _, name := range names {
		text, err := readFile(name)
		if err != nil {
			return reading{}, err
		}
		r.texts[name] = text
		digest.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		digest.Write(text)
	}
	digest.Sum(r.digest[:0])
	return r, nil
}

// touched is true if a file may have another content than was read.
func (r reading) touched(names []string, now time.Time) (bool, error) {
	stamps, err := look(names)
	if err != nil {
		return false, err
	}
	for i, s := range stamps {
		if s != r.stamps[i] || r.at.Sub(s.changed) < settleTime {
			return true, nil
		}
	}
	return false, nil
}

func look(names []string) ([]stamp, error) {
	stamps := make([]stamp, len(names))
	for i, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return nil, readError(name, err)
		}
		if stamps[i], err = stampOf(name, info); err != nil {
			return nil, err
		}
	}
	return stamps, nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, readError(name, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, readError(name, err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("reading %s: it is larger than 1MiB", name)
	}
	return text, nil
}

// readError names the file once: errors of package os have it too.
func readError(name string, err error) error {
	if inner := (*fs.PathError)(nil); errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("reading %s: %w", name, err)
}
