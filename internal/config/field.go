package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
)

// field is one key of a section. The tables of fields are the only list of keys: the decoder reads by
// them, defaults come from them, and [Keys] prints them.
type field struct {
	name string
	// def is the default as it would stand in the file; empty where there is none.
	def string
	// otherwise says what happens without the key where that is no value of its own.
	otherwise string
	// need makes the key required.
	need    bool
	meaning string
	kind    kind
}

// preset gives the target its default.
func (f field) preset() {
	if f.kind.preset != nil {
		f.kind.preset(f.def)
	}
}

// kind is how the value of a key is read, and what the manual says about it.
type kind struct {
	// wants is the type in words: "a duration".
	wants string
	// bound in words: "1ms to 1h"; empty where wants says it all.
	bound string
	// read stores the value in the target, or reports why not.
	read func(d *decoder, v value)
	// preset stores a default in the target; an empty one leaves it as it is. Sections preset their keys.
	preset func(def string)
	// inner are the keys inside of the value, if it has any.
	inner func(path string) []Key
}

// section reads a mapping whose keys are the fields.
func section(fields []field) kind {
	return kind{
		wants: "a section",
		read:  func(d *decoder, v value) { d.section(v, fields) },
		preset: func(string) {
			for _, f := range fields {
				f.preset()
			}
		},
		inner: func(path string) []Key { return keysOf(path, fields) },
	}
}

// pointer reads a section that is nil when it is absent.
func pointer[T any](to **T, inside func(*T) kind) kind {
	k := inside(new(T))
	return kind{
		wants: k.wants,
		read: func(d *decoder, v value) {
			*to = new(T)
			inside(*to).read(d, v)
		},
		inner: k.inner,
	}
}

// list reads a sequence of least to most entries.
func list[T any](to *[]T, least, most int, inside func(*T) kind) kind {
	k := inside(new(T))
	bound := entries(least, most)
	if k.inner == nil && k.bound != "" {
		bound += ", each " + k.bound
	}
	return kind{
		wants: "a list",
		bound: bound,
		read: func(d *decoder, v value) {
			if v.node.Kind != yaml.SequenceNode {
				d.wrongType(v, "a list", "write [value] or one line that starts with - for each entry")
				return
			}
			if n := len(v.node.Content); n < least || n > most {
				d.failKey(v, &fault{code: codeOutOfRange,
					message: fmt.Sprintf("must have %s, found %d", entries(least, most), n)})
				if n > most {
					return
				}
			}
			// The list has its length from the start: fields keep pointers to the entries.
			*to = make([]T, len(v.node.Content))
			for i, node := range v.node.Content {
				entry := value{path: index(v.path, i), node: node}
				d.places[entry.path] = entry
				inside(&(*to)[i]).read(d, entry)
			}
		},
		inner: func(path string) []Key {
			if k.inner == nil {
				return nil
			}
			return k.inner(path + "[]")
		},
	}
}

func entries(least, most int) string {
	if least == 0 {
		return fmt.Sprintf("at most %d entries", most)
	}
	return fmt.Sprintf("%d to %d entries", least, most)
}

// named reads a mapping whose keys are names that the user chooses.
func named[T any](to *[]T, inside func(name string, t *T) kind) kind {
	return kind{
		wants: "a section",
		bound: fmt.Sprintf("at most %d entries", maxPools),
		read: func(d *decoder, v value) {
			if v.node.Kind != yaml.MappingNode {
				d.wrongType(v, "a section (name: settings)", "")
				return
			}
			if n := len(v.node.Content) / 2; n > maxPools {
				d.failKey(v, &fault{code: codeOutOfRange,
					message: fmt.Sprintf("must have at most %d entries, found %d", maxPools, n)})
				return
			}
			var children []value
			for child := range d.entries(v) {
				children = append(children, child)
			}
			*to = make([]T, len(children))
			for i, child := range children {
				d.places[child.path] = child
				if _, f := parseName(child.key.Value); f != nil {
					d.failKey(child, f)
				}
				inside(child.key.Value, &(*to)[i]).read(d, child)
			}
		},
		inner: func(path string) []Key { return inside("", new(T)).inner(path + ".<name>") },
	}
}

func hasField(fields []field, name string) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return f.name == name })
}

func fieldNames(fields []field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}
