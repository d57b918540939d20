// Package htpasswd reads files of users and hashed passwords in the format of Apache's htpasswd, and checks
// passwords by them. Of the hashes it takes those that are meant for passwords: bcrypt and Argon2id.
package htpasswd

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// maxUser bounds the name of a user in bytes.
const maxUser = 255

// File is what a file says. It is immutable and safe for concurrent use.
type File struct {
	users map[string]hash
	// decoy is the costliest hash. It is computed for users that there are not.
	decoy hash
}

// hash is a hashed password.
type hash interface {
	// matches computes the hash of a password and compares.
	matches(password []byte) bool
	// cost is about how long that takes, in microseconds.
	cost() int64
}

// SyntaxError is a line that cannot be read.
type SyntaxError struct {
	// Line counts from 1; 0 is the file as a whole.
	Line   int
	Reason string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.Reason
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
}

// Parse reads a file: a line for each user, its name, a colon and the hash. Empty lines and those that begin with
// "#" say nothing. An error is a *SyntaxError; hashes are not repeated in it.
func Parse(text []byte) (*File, error) {
	f := &File{users: make(map[string]hash)}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimRight(line, " \t\r\n")
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		name, text, found := bytes.Cut(line, []byte{':'})
		user := string(name)
		_, twice := f.users[user]
		switch {
		case !found:
			return nil, &SyntaxError{number, "there is no colon between user and hash"}
		case user == "" || len(user) > maxUser || !utf8.Valid(name) || bytes.ContainsFunc(name, unicode.IsControl):
			return nil, &SyntaxError{number, fmt.Sprintf("the name of a user has 1 to %d bytes, UTF-8 and no control characters", maxUser)}
		case twice:
			return nil, &SyntaxError{number, fmt.Sprintf("the user %q has a line already", user)}
		}
		h, err := parseHash(string(text))
		if err != nil {
			return nil, &SyntaxError{number, err.Error()}
		}
		f.users[user] = h
		if f.decoy == nil || h.cost() > f.decoy.cost() {
			f.decoy = h
		}
	}
	if f.decoy == nil {
		return nil, &SyntaxError{Reason: "there is no user in it"}
	}
	return f, nil
}

// Verify is true if the user has this password. It takes as long for a user that there is not: as long as the
// costliest hash of the file.
func (f *File) Verify(user, password []byte) bool {
	h, known := f.users[string(user)]
	if !known {
		h = f.decoy
	}
	return h.matches(password) && known
}

// Users is how many there are.
func (f *File) Users() int { return len(f.users) }
