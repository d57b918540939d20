// Package strict reads YAML texts by tables of keys and collects every problem that a text has, each with
// its place, its path and a stable code.
//
// A text is refused where two readers of YAML could disagree about it: anchors, aliases, tags, several
// documents, null values, texts that look like numbers, keys that come twice.
package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Fault is what is wrong with a value, without its place.
type Fault struct{ Code, Message, Hint string }

// Value is a node of the text, its path and, in a section, the node of its key.
type Value struct {
	Path string
	Key  *yaml.Node
	Node *yaml.Node
}

// As is the value as the place of what another path has, or lacks.
func (v Value) As(path string) Value {
	v.Path = path
	return v
}

// IsSection is true for a mapping.
func (v Value) IsSection() bool { return v.Node.Kind == yaml.MappingNode }

// IsScalar is true for a single value that is not null.
func (v Value) IsScalar() bool { return v.Node.Kind == yaml.ScalarNode && !isNull(v.Node) }

// Before is true if the value stands in front of another in the text.
func (v Value) Before(w Value) bool {
	a, b := v.at(), w.at()
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column)) < 0
}

// at is where a problem of the value as a whole is shown: at its key, as sections and lists begin on the
// next line.
func (v Value) at() *yaml.Node {
	if v.Key != nil {
		return v.Key
	}
	return v.Node
}

// Decoder collects problems and goes on, and remembers where everything stands for the checks that come
// afterwards.
type Decoder struct {
	// File is the name of the text.
	File     string
	problems Problems
	// places has every value that was given, by path.
	places map[string]Value
	// broken has the paths whose value is not to be believed, because a problem was reported or the key is
	// known to be meant but misspelled. Checks pass over them: one slip, one problem.
	broken map[string]bool
}

// Decode reads a text by the table of its root, and then has the values held against each other. The
// targets of the table hold nothing to rely on if the problems, which are in the order of the text,
// Failed.
func Decode(file string, text []byte, format Format, root []Field, check func(*Decoder)) Problems {
	d := &Decoder{File: file, places: make(map[string]Value), broken: make(map[string]bool)}
	node, p := document(text, format)
	if p != nil {
		p.Severity, p.File = Error, file
		return Problems{*p}
	}
	top := Value{Node: node}
	d.places[""] = top
	d.section(top, root)
	check(d)

	// Keys are read in the order of the tables, and checks come last; readers expect the order of the
	// text.
	slices.SortStableFunc(d.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return d.problems
}

func (d *Decoder) add(s Severity, at *yaml.Node, path string, f *Fault) {
	d.problems = append(d.problems, Problem{Code: f.Code, Severity: s, File: d.File,
		Line: at.Line, Column: at.Column, Path: path, Message: f.Message, Hint: f.Hint})
	if s == Error {
		d.broken[path] = true
	}
}

// FailValue reports an error at the value.
func (d *Decoder) FailValue(v Value, f *Fault) { d.add(Error, v.Node, v.Path, f) }

// FailKey reports an error at the key of the value.
func (d *Decoder) FailKey(v Value, f *Fault) { d.add(Error, v.at(), v.Path, f) }

// WarnKey reports a warning at the key of the value.
func (d *Decoder) WarnKey(v Value, f *Fault) { d.add(Warning, v.at(), v.Path, f) }

// Missing reports a required key that the section v does not have.
func (d *Decoder) Missing(v Value, name, hint string) {
	d.FailKey(v.As(Join(v.Path, name)), &Fault{CodeMissingKey, "this key is required", hint})
}

// WrongType reports that the value is not what was wanted.
func (d *Decoder) WrongType(v Value, wants, hint string) {
	f := &Fault{CodeWrongType, fmt.Sprintf("must be %s, found %s", wants, describe(v.Node)), hint}
	if isNull(v.Node) {
		// The parser puts a value that is not there at the token that follows.
		f.Hint = "give it a value, or remove it"
		d.FailKey(v, f)
		return
	}
	d.FailValue(v, f)
}

// Failed is true if there is an error so far.
func (d *Decoder) Failed() bool { return d.problems.Failed() }

// Given is true if the text has the path.
func (d *Decoder) Given(path string) bool {
	_, ok := d.places[path]
	return ok
}

// Place is the value at a path that was given. The path of the document is empty.
func (d *Decoder) Place(path string) Value { return d.places[path] }

// FailEntry reports an error that a check of a whole list has found: in the entry at index, below 0 in the list
// itself, and there in a field, empty for the entry as a whole. It is shown at the field, or at the entry that
// does not have it, and passed over where one of them is broken.
func (d *Decoder) FailEntry(list string, index int, field string, f *Fault) {
	entry := list
	if index >= 0 {
		entry = Index(list, index)
	}
	path := entry
	if field != "" {
		path = Join(entry, field)
	}
	if !d.Sound(entry, path) {
		return
	}
	at, given := d.places[path]
	if !given {
		at = d.places[entry]
	}
	d.FailValue(at.As(path), f)
}

// Sound is true if none of the paths is broken. A path that was not given is sound.
func (d *Decoder) Sound(paths ...string) bool {
	return !slices.ContainsFunc(paths, func(path string) bool { return d.broken[path] })
}

// section reads a mapping by its table. Fields are read in the order of the table, so that one may
// start from what an earlier one was given.
func (d *Decoder) section(v Value, fields []Field) {
	if !v.IsSection() {
		d.WrongType(v, "a section (key: value)", "")
		return
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	found := make(map[string]Value, len(v.Node.Content)/2)
	meant := make(map[string]bool)
	for child := range d.children(v) {
		name := child.Key.Value
		if !slices.Contains(names, name) {
			hint, near := Suggest(name, names, "keys here")
			if near != "" {
				meant[near] = true
			}
			d.FailKey(child, &Fault{CodeUnknownKey, "unknown key", hint})
			continue
		}
		found[name] = child
		d.places[child.Path] = child
	}
	for _, f := range fields {
		f.preset()
		child, ok := found[f.Name]
		switch {
		case ok:
			f.Kind.Read(d, child)
		case meant[f.Name]:
			d.broken[Join(v.Path, f.Name)] = true
		case f.Need:
			d.Missing(v, f.Name, strings.TrimSuffix(f.Meaning, "."))
		}
	}
}

// children are the entries of a mapping whose keys are texts and come for the first time.
func (d *Decoder) children(v Value) func(yield func(Value) bool) {
	return func(yield func(Value) bool) {
		lines := make(map[string]int, len(v.Node.Content)/2)
		for i := 0; i+1 < len(v.Node.Content); i += 2 {
			key, node := v.Node.Content[i], v.Node.Content[i+1]
			if key.Kind != yaml.ScalarNode {
				d.add(Error, key, v.Path, &Fault{Code: CodeWrongType,
					Message: "a key must be a text, found " + describe(key)})
				continue
			}
			child := Value{Path: Join(v.Path, key.Value), Key: key, Node: node}
			if line, ok := lines[key.Value]; ok {
				d.FailKey(child, &Fault{CodeDuplicateKey,
					fmt.Sprintf("the key was given before, on line %d", line), "remove one of the two"})
				continue
			}
			lines[key.Value] = key.Line
			if !yield(child) {
				return
			}
		}
	}
}

// isNull is true for "key:", "key: ~" and "key: null". They are errors everywhere: whether an absent
// value, an empty one or a forgotten one is meant cannot be known.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// describe says what a node is, for messages.
func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a section"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case isNull(n):
		return "nothing"
	case n.Tag == "!!int", n.Tag == "!!float":
		return "the number " + Shorten(n.Value)
	case n.Tag == "!!bool":
		return n.Value
	default:
		return "the text " + strconv.Quote(Shorten(n.Value))
	}
}

// Shorten keeps messages readable.
func Shorten(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return s
}

// Join is the path of a key in a section. A key that is more than a word is quoted, so that a pool named
// "api.tls" and the tls of the pool "api" have different paths.
func Join(path, key string) string {
	const word = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" + digits + "_-"
	if strings.ContainsFunc(key, func(r rune) bool { return !strings.ContainsRune(word, r) }) {
		key = strconv.Quote(Shorten(key))
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// Index is the path of an entry of a list.
func Index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
