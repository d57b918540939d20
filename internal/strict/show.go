package strict

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Shown is a section as it would stand in a file, its keys in the order of their table.
type Shown []Entry

// Entry is a key and its value: a [Shown], a []any of values, a string, a number or a bool.
type Entry struct {
	Key   string
	Value any
}

// Show is the section that the targets of the fields are now, defaults included, in the notation that the
// fields are read in. A key whose target has no value that could stand there is left out, and so is a section
// that has none of its keys, or lacks one that it needs: it was not given.
func Show(fields []Field) Shown {
	var s Shown
	for _, f := range fields {
		if f.Kind.Show == nil {
			continue
		}
		v, ok := f.Kind.Show()
		switch {
		case ok:
			s = append(s, Entry{f.Name, v})
		case f.Need:
			return nil
		}
	}
	return s
}

// MarshalJSON keeps the order of the keys. What comes out is also a YAML that is read strictly.
func (s Shown) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, e := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(e.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(e.Value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Value is that of a key; nil if the section does not have it.
func (s Shown) Value(key string) any {
	for _, e := range s {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// Without is the section without some of its keys.
func (s Shown) Without(keys ...string) Shown {
	var rest Shown
next:
	for _, e := range s {
		for _, k := range keys {
			if e.Key == k {
				continue next
			}
		}
		rest = append(rest, e)
	}
	return rest
}

// Differences are the paths below path at which two sections differ. A list that differs is one path, and so
// is a section that only one of the two has.
func Differences(path string, a, b Shown) []string {
	var paths []string
	for _, e := range a {
		at, other := Join(path, e.Key), b.Value(e.Key)
		from, isSection := e.Value.(Shown)
		to, wasSection := other.(Shown)
		switch {
		case isSection && wasSection:
			paths = append(paths, Differences(at, from, to)...)
		case !reflect.DeepEqual(e.Value, other):
			paths = append(paths, at)
		}
	}
	for _, e := range b {
		if a.Value(e.Key) == nil {
			paths = append(paths, Join(path, e.Key))
		}
	}
	return paths
}
