// Package logins checks user names and passwords by a file that changes while the daemon serves, and remembers
// those that were right, so that a login with each request does not cost a hash with each request.
//
// It starts nothing: whoever owns a [Source] calls Refresh.
package logins

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/scalws/scalws/internal/htpasswd"
)

// maxFile bounds the file in bytes, as the configuration's check does.
const maxFile = 1 << 20

// Bounds of the logins of a source that wait for their hash to be computed, each of which holds a connection: how many
// there are, and how long one of them waits. It is what a daemon that stops has to wait for too.
const (
	mostWaiting = 256
	longestWait = 5 * time.Second
)

// Places are for hashes that are computed at once, by all sources that share them: one hash costs up to 256 MiB and all
// that a processor can do.
type Places chan struct{}

// NewPlaces makes half as many places as there are processors.
func NewPlaces() Places { return make(Places, max(1, runtime.GOMAXPROCS(0)/2)) }

// ErrBusy is what Check returns where too many hashes are to be computed: nothing is known of this login.
var ErrBusy = errors.New("too many logins are being checked")

// Source has the users that the file had when it was last read without an error. It is safe for concurrent use.
type Source struct {
	file    string
	current atomic.Pointer[content]
	places  Places
	waiting atomic.Int32
}

// content is a file that was read, and what was found out with it: a changed file forgets all logins.
type content struct {
	text  []byte
	users *htpasswd.File
	known *remembered
}

// New reads the file. Errors name it.
func New(file string, places Places) (*Source, error) {
	s := &Source{file: file, places: places}
	if _, err := s.Refresh(); err != nil {
		return nil, err
	}
	return s, nil
}

// Refresh reads the file again and says whether other users come in from now on. After an error those that did
// still do. It is called by one goroutine at a time.
func (s *Source) Refresh() (changed bool, err error) {
	text, err := read(s.file)
	if err != nil {
		return false, fmt.Errorf("reading logins: %w", err)
	}
	if before := s.current.Load(); before != nil && bytes.Equal(before.text, text) {
		return false, nil
	}
	users, err := htpasswd.Parse(text)
	if err != nil {
		return false, fmt.Errorf("reading logins of %s: %w", s.file, err)
	}
	c := &content{text: text, users: users, known: &remembered{}}
	rand.Read(c.known.secret[:])
	s.current.Store(c)
	return true, nil
}

func read(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", file, maxFile)
	}
	return text, err
}

// File is where the users stand.
func (s *Source) File() string { return s.file }

// Users is how many there are.
func (s *Source) Users() int { return s.current.Load().users.Users() }

// Known is true for a login that was right before, by the file as it is. It does not wait and allocates nothing.
func (s *Source) Known(user, password []byte) bool {
	known := s.current.Load().known
	return known.has(known.id(user, password))
}

// Check is true for a right login. One that is not Known waits for its hash, also where there is no such user. The
// error is ErrBusy.
func (s *Source) Check(user, password []byte) (bool, error) {
	c := s.current.Load()
	id := c.known.id(user, password)
	if c.known.has(id) {
		return true, nil
	}
	if s.waiting.Add(1) > mostWaiting {
		s.waiting.Add(-1)
		return false, ErrBusy
	}
	defer s.waiting.Add(-1)
	if !s.places.take() {
		return false, ErrBusy
	}
	defer func() { <-s.places }()
	if now := s.current.Load(); now != c {
		c, id = now, now.known.id(user, password) // another file holds by now
	}
	switch {
	case c.known.has(id): // found out meanwhile: a browser sends many requests at once
		return true, nil
	case !c.users.Verify(user, password):
		return false, nil
	}
	c.known.add(id)
	return true, nil
}

// take waits for a place. It is false where none became free in time.
func (p Places) take() bool {
	select {
	case p <- struct{}{}:
		return true
	default:
	}
	late := time.NewTimer(longestWait)
	defer late.Stop()
	select {
	case p <- struct{}{}:
		return true
	case <-late.C:
		return false
	}
}
