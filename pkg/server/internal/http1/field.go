package http1

import (
	"bytes"
	"iter"
)

// Field is one field line of a head or of a trailer section.
type Field struct {
	// Name is a token, in the case in which it came. A '_' in it is legal and passes.
	Name []byte
	// Value has no whitespace around it. It may be empty.
	Value []byte
	Known Known
	// Hop marks a field that ends here and is not passed on: the hop-by-hop fields, those that a
	// Connection field names, and those that mean nothing where they stand (a Content-Length in a 204,
	// an Expect without a body).
	Hop bool
}

// parse reads a field line, which is text (RFC 9112 section 5).
func (f *Field) parse(line []byte) error {
	i := tokenLen(line)
	if i == 0 || i == len(line) || line[i] != ':' {
		return badName(line, i)
	}
	f.Name, f.Value = line[:i], trim(line[i+1:])
	f.Known = know(f.Name)
	f.Hop = f.Known.isHop()
	return nil
}

// badName says why line[:i] is not the name of a field.
func badName(line []byte, i int) error {
	switch {
	case isBlank(line[0]):
		// RFC 9112 section 5.2 allows to refuse a folded line, and section 2.2 asks it of blanks
		// before the first field.
		return malformed("line begins with whitespace")
	case i == len(line):
		return malformed("field line without a colon")
	case i == 0 && line[0] == ':':
		return malformed("empty field name")
	case isBlank(line[i]):
		return malformed("whitespace in or after a field name")
	}
	return malformed("invalid character in a field name")
}

// items are the items of a comma-separated list, without the empty ones (RFC 9110 section 5.6.1).
// Quoted strings are not known here: none of the lists that we read has any.
func items(list []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for more := true; more; {
			var item []byte
			item, list, more = bytes.Cut(list, []byte{','})
			if item = trim(item); len(item) > 0 && !yield(item) {
				return
			}
		}
	}
}
