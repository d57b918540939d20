package strict

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
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

// Without is the section without some of its keys.
func (s Shown) Without(keys ...string) Shown {
	return slices.DeleteFunc(slices.Clone(s), func(e Entry) bool { return slices.Contains(keys, e.Key) })
}

// Differences are the paths below path at which two sections differ, in the order of their table. A list that
// differs is one path, and so is a section that only one of the two has.
func Differences(path string, a, b Shown) []string {
	var paths []string
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(a) > 0 && len(b) > 0 && a[0].Key == b[0].Key:
			at := Join(path, a[0].Key)
			from, was := a[0].Value.(Shown)
			to, is := b[0].Value.(Shown)
			switch {
			case was && is:
				paths = append(paths, Differences(at, from, to)...)
			case !reflect.DeepEqual(a[0].Value, b[0].Value):
				paths = append(paths, at)
			}
			a, b = a[1:], b[1:]
		case len(a) > 0 && !b.has(a[0].Key):
			paths = append(paths, Join(path, a[0].Key))
			a = a[1:]
		default:
			paths = append(paths, Join(path, b[0].Key))
			b = b[1:]
		}
	}
	return paths
}

func (s Shown) has(key string) bool {
	return slices.ContainsFunc(s, func(e Entry) bool { return e.Key == key })
}
