package route

import (
	"fmt"

	"github.com/scalws/scalws/internal/config"
)

// Edits change the fields of a head. nil changes nothing.
type Edits struct {
	dropped [][]byte // names, folded
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

// Drops is true for a field that is left out. "_" in a name is "-": programs behind CGI and what has come of it find both
// in the same variable (RFC 3875 section 4.1.18), so that a client could take the place of what is set with the other
// spelling.
func (e *Edits) Drops(name []byte) bool {
	if e == nil {
		return false
	}
	for _, dropped := range e.dropped {
		if isFolded(dropped, name) {
			return true
		}
	}
	return false
}

// folded is the form of a name that names are compared in.
func folded(name string) []byte {
	out := []byte(name)
	for i, c := range out {
		out[i] = fold(c)
	}
	return out
}

func isFolded(folded, name []byte) bool {
	if len(folded) != len(name) {
		return false
	}
	for i, c := range name {
		if fold(c) != folded[i] {
			return false
		}
	}
	return true
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
