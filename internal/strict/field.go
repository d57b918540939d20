package strict

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Field is one key of a section. The tables of fields are the only list of keys: the decoder reads by
// them, defaults come from them, and [Keys] prints them.
type Field struct {
	Name string
	// Def is the default as it would stand in the file; empty where there is none.
	Def string
	// Otherwise says what happens without the key where that is no value of its own.
	Otherwise string
	// Need makes the key required.
	Need    bool
	Meaning string
	Kind    Kind
}

// preset gives the target its default.
func (f Field) preset() {
	if f.Kind.Preset != nil {
		f.Kind.Preset(f.Def)
	}
}

// Kind is how the value of a key is read, and what the manual says about it.
type Kind struct {
	// Wants is the type in words: "a duration".
	Wants string
	// Bound in words: "1ms to 1h"; empty where Wants says it all.
	Bound string
	// Read stores the value in the target, or reports why not.
	Read func(d *Decoder, v Value)
	// Preset stores a default in the target; an empty one leaves it as it is. Sections preset their keys.
	Preset func(def string)
	// Inner are the keys inside of the value, if it has any.
	Inner func(path string) []Key
	// Show is the value of the target as it would stand in the file, see [Show]; false where there is none. nil
	// never shows it.
	Show func() (any, bool)
	// Schema is the JSON Schema of the value, see [Document]; nil leaves the key out.
	Schema func() Shown
}

// Only shows the value only where a condition holds: elsewhere the key would have no effect.
func (k Kind) Only(holds func() bool) Kind {
	show := k.Show
	k.Show = func() (any, bool) {
		if !holds() {
			return nil, false
		}
		return show()
	}
	return k
}

// Section reads a mapping whose keys are the fields.
func Section(fields []Field) Kind {
	return Kind{
		Wants: "a section",
		Read:  func(d *Decoder, v Value) { d.section(v, fields) },
		Preset: func(string) {
			for _, f := range fields {
				f.preset()
			}
		},
		Inner: func(path string) []Key { return Keys(path, fields) },
		Show: func() (any, bool) {
			s := Show(fields)
			return s, len(s) > 0
		},
		Schema: func() Shown { return sectionSchema(fields) },
	}
}

// Refused reads nothing: the key is known, and here it must not stand. Manuals do not list it.
func Refused(f Fault) Kind {
	return Kind{Read: func(d *Decoder, v Value) { d.FailKey(v, &f) }}
}

// Pointer reads a section that is nil when it is absent. Its table is made when it is asked for: a list of ten thousand
// entries may have many such sections each, most of them absent.
func Pointer[T any](to **T, inside func(*T) Kind) Kind {
	return Kind{
		Wants: "a section",
		Read: func(d *Decoder, v Value) {
			*to = new(T)
			inside(*to).Read(d, v)
		},
		Inner: func(path string) []Key { return inside(new(T)).Inner(path) },
		Show: func() (any, bool) {
			if *to == nil {
				return nil, false
			}
			if v, ok := inside(*to).Show(); ok {
				return v, true
			}
			return Shown{}, true
		},
		Schema: func() Shown { return inside(new(T)).Schema() },
	}
}

// List reads a sequence of least to most entries.
func List[T any](to *[]T, least, most int, inside func(*T) Kind) Kind {
	k := inside(new(T))
	bound := entries(least, most)
	if k.Inner == nil && k.Bound != "" {
		bound += ", each " + k.Bound
	}
	return Kind{
		Wants: "a list",
		Bound: bound,
		Read: func(d *Decoder, v Value) {
			if v.Node.Kind != yaml.SequenceNode {
				d.WrongType(v, "a list", "write [value] or one line that starts with - for each entry")
				return
			}
			if n := len(v.Node.Content); n < least || n > most {
				d.FailKey(v, &Fault{Code: CodeOutOfRange,
					Message: fmt.Sprintf("must have %s, found %d", entries(least, most), n)})
				if n > most {
					return
				}
			}
			// The list has its length from the start: fields keep pointers to the entries.
			*to = make([]T, len(v.Node.Content))
			for i, node := range v.Node.Content {
				entry := Value{Path: Index(v.Path, i), Node: node}
				d.places[entry.Path] = entry
				inside(&(*to)[i]).Read(d, entry)
			}
		},
		Inner: func(path string) []Key {
			if k.Inner == nil {
				return nil
			}
			return k.Inner(path + "[]")
		},
		Show: func() (any, bool) {
			if len(*to) < least {
				return nil, false
			}
			all := make([]any, 0, len(*to))
			for i := range *to {
				if v, ok := inside(&(*to)[i]).Show(); ok {
					all = append(all, v)
				}
			}
			return all, true
		},
		Schema: func() Shown {
			s := Shown{{"type", "array"}, {"maxItems", most}}
			if least > 0 {
				s = append(s, Entry{"minItems", least})
			}
			return append(s, Entry{"items", k.Schema()})
		},
	}
}

func entries(least, most int) string {
	if least == 0 {
		return fmt.Sprintf("at most %d entries", most)
	}
	return fmt.Sprintf("%d to %d entries", least, most)
}

// Named reads a mapping of at most most entries, whose keys are names that the user chooses. fresh is an
// entry before it is read, name that of an entry.
func Named[T any](to *[]T, most int, form Form[string], fresh func(name string) T, name func(*T) string, inside func(*T) Kind) Kind {
	return Kind{
		Wants: "a section",
		Bound: fmt.Sprintf("at most %d entries", most),
		Read: func(d *Decoder, v Value) {
			if !v.IsSection() {
				d.WrongType(v, "a section (name: settings)", "")
				return
			}
			if n := len(v.Node.Content) / 2; n > most {
				d.FailKey(v, &Fault{Code: CodeOutOfRange,
					Message: fmt.Sprintf("must have at most %d entries, found %d", most, n)})
				return
			}
			var children []Value
			for child := range d.children(v) {
				children = append(children, child)
			}
			*to = make([]T, len(children))
			for i, child := range children {
				d.places[child.Path] = child
				if _, f := form.Parse(child.Key.Value); f != nil {
					d.FailKey(child, f)
				}
				(*to)[i] = fresh(child.Key.Value)
				inside(&(*to)[i]).Read(d, child)
			}
		},
		Inner: func(path string) []Key {
			t := fresh("")
			return inside(&t).Inner(path + ".<name>")
		},
		Show: func() (any, bool) {
			all := make(Shown, 0, len(*to))
			for i := range *to {
				if v, ok := inside(&(*to)[i]).Show(); ok {
					all = append(all, Entry{name(&(*to)[i]), v})
				}
			}
			return all, true
		},
		Schema: func() Shown {
			t := fresh("")
			return Shown{{"type", "object"}, {"maxProperties", most}, {"propertyNames", form.schema()},
				{"additionalProperties", inside(&t).Schema()}}
		},
	}
}
