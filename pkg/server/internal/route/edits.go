package route

import (
	"fmt"

	"github.com/scalws/scalws/internal/config"
)

// Edits change the fields of a head. nil changes nothing.
type Edits struct {
	dropped []string // names, folded
	lines   []byte   // that come behind the fields that stay
}

func newEdits(e config.HeaderEdits, dropped ...string) *Edits {
	var out Edits
	for _, name := range append(dropped, e.Remove...) {
		out.dropped = append(out.dropped, folded(name))
	}
	for _, f := range e.Set {
		out.dropped = append(out.dropped, folded(f.Name))
		out.lines = fmt.Appendf(out.lines, "%s: %s\r\n", f.Name, f.Value)
	}
	for _, f := range e.Add {
		out.lines = fmt.Appendf(out.lines, "%s: %s\r\n", f.Name, f.Value)
	}
	if out.dropped == nil && out.lines == nil {
		return nil
	}
	return &out
}

// Drops is true for a field that is left out.
func (e *Edits) Drops(name []byte) bool {
	if e == nil {
		return false
	}
	for _, dropped := range e.dropped {
		if SameField(name, dropped) {
			return true
		}
	}
	return false
}

// SameField is true for the name of a field that somebody may take for another one, which is in lower case and without
// "_": programs behind CGI and what has come of it find "X_User" and "X-User" in the same variable (RFC 3875 section
// 4.1.18), so that a client could say with the first what it is not allowed to say with the second.
func SameField(name []byte, other string) bool {
	if len(name) != len(other) {
		return false
	}
	for i, c := range name {
		if fold(c) != other[i] {
			return false
		}
	}
	return true
}

func folded(name string) string {
	out := []byte(name)
	for i, c := range out {
		out[i] = fold(c)
	}
	return string(out)
}

func fold(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case c == '_':
		return '-'
	}
	return c
}

// Append writes the field lines that are set and added.
func (e *Edits) Append(dst []byte) []byte {
	if e == nil {
		return dst
	}
	return append(dst, e.lines...)
}
