package route

import (
	"bytes"
	"fmt"

	"github.com/scalws/scalws/internal/config"
)

// Edits change the fields of a head. nil changes nothing.
type Edits struct {
	dropped [][]byte // names
	lines   []byte   // that come behind the fields that stay
}

func newEdits(e config.HeaderEdits, dropped ...string) *Edits {
	var out Edits
	for _, name := range append(dropped, e.Remove...) {
		out.dropped = append(out.dropped, []byte(name))
	}
	for _, f := range e.Set {
		out.dropped = append(out.dropped, []byte(f.Name))
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
		if len(dropped) == len(name) && bytes.EqualFold(dropped, name) {
			return true
		}
	}
	return false
}

// Append writes the field lines that are set and added.
func (e *Edits) Append(dst []byte) []byte {
	if e == nil {
		return dst
	}
	return append(dst, e.lines...)
}
