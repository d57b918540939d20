package config

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fault is what is wrong with a value, without its place.
type fault struct {
	code    string
	message string
	hint    string
}

// value is a node of the text, its path and, in a section, the node of its key.
type value struct {
	path string
	key  *yaml.Node
	node *yaml.Node
}

// at is where a problem of the value as a whole is shown: at its key, as sections and lists begin on the
// next line.
func (v value) at() *yaml.Node {
	if v.key != nil {
		return v.key
	}
	return v.node
}

// decoder reads nodes into a Config. It collects problems and goes on, and remembers where everything
// stands for the checks that come afterwards.
type decoder struct {
	file     string
	dir      string
	problems Problems
	// places has every value that was given, by path.
	places map[string]value
	// broken has the paths whose value is not to be believed, because a problem was reported or the key is
	// known to be meant but misspelled. Checks pass over them: one slip, one problem.
	broken map[string]bool
}

func (d *decoder) add(s Severity, at *yaml.Node, path string, f *fault) {
	d.problems = append(d.problems, Problem{Code: f.code, Severity: s, File: d.file,
		Line: at.Line, Column: at.Column, Path: path, Message: f.message, Hint: f.hint})
	if s == Error {
		d.broken[path] = true
	}
}

// failValue reports an error at the value.
func (d *decoder) failValue(v value, f *fault) { d.add(Error, v.node, v.path, f) }

// failKey reports an error at the key of the value.
func (d *decoder) failKey(v value, f *fault) { d.add(Error, v.at(), v.path, f) }

// warnKey reports a warning at the key of the value.
func (d *decoder) warnKey(v value, f *fault) { d.add(Warning, v.at(), v.path, f) }

// missing reports a required key that the section v does not have.
func (d *decoder) missing(v value, name, hint string) {
	d.add(Error, v.at(), join(v.path, name), &fault{code: codeMissingKey,
		message: "this key is required", hint: hint})
}

// given is true if the text has the path.
func (d *decoder) given(path string) bool {
	_, ok := d.places[path]
	return ok
}

// sound is true if none of the paths is broken. A path that was not given is sound.
func (d *decoder) sound(paths ...string) bool {
	for _, path := range paths {
		if d.broken[path] {
			return false
		}
	}
	return true
}

// section reads a mapping by its table. Fields are read in the order of the table, so that one may
// start from what an earlier one was given.
func (d *decoder) section(v value, fields []field) {
	if v.node.Kind != yaml.MappingNode {
		d.wrongType(v, "a section (key: value)", "")
		return
	}
	found := make(map[string]value, len(v.node.Content)/2)
	meant := make(map[string]bool)
	for child := range d.entries(v) {
		name := child.key.Value
		if !hasField(fields, name) {
			hint, near := hintFor(name, fieldNames(fields), "keys here")
			if near != "" {
				meant[near] = true
			}
			d.failKey(child, &fault{code: codeUnknownKey, message: "unknown key", hint: hint})
			continue
		}
		found[name] = child
		d.places[child.path] = child
	}
	for _, f := range fields {
		f.preset()
		child, ok := found[f.name]
		switch {
		case ok:
			f.kind.read(d, child)
		case meant[f.name]:
			d.broken[join(v.path, f.name)] = true
		case f.need:
			d.missing(v, f.name, strings.TrimSuffix(f.meaning, "."))
		}
	}
}

// entries are the entries of a mapping whose keys are texts and come for the first time.
func (d *decoder) entries(v value) func(yield func(value) bool) {
	return func(yield func(value) bool) {
		lines := make(map[string]int, len(v.node.Content)/2)
		for i := 0; i+1 < len(v.node.Content); i += 2 {
			key, node := v.node.Content[i], v.node.Content[i+1]
			if key.Kind != yaml.ScalarNode {
				d.add(Error, key, v.path, &fault{code: codeWrongType,
					message: "a key must be a text, found " + describe(key)})
				continue
			}
			child := value{path: join(v.path, key.Value), key: key, node: node}
			if line, ok := lines[key.Value]; ok {
				d.add(Error, key, child.path, &fault{code: codeDuplicateKey,
					message: fmt.Sprintf("the key was given before, on line %d", line), hint: "remove one of the two"})
				continue
			}
			lines[key.Value] = key.Line
			if !yield(child) {
				return
			}
		}
	}
}

// wrongType reports that the value is not what was wanted.
func (d *decoder) wrongType(v value, wants, hint string) {
	f := &fault{code: codeWrongType, message: fmt.Sprintf("must be %s, found %s", wants, describe(v.node)), hint: hint}
	if isNull(v.node) {
		// The parser puts a value that is not there at the token that follows.
		f.hint = "give it a value, or remove it"
		d.failKey(v, f)
		return
	}
	d.failValue(v, f)
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
		return "the number " + shorten(n.Value)
	case n.Tag == "!!bool":
		return n.Value
	default:
		return "the text " + strconv.Quote(shorten(n.Value))
	}
}

// shorten keeps messages readable.
func shorten(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return s
}

// join is the path of a key in a section. A key that is more than a word is quoted, so that a pool named
// "api.tls" and the tls of the pool "api" have different paths.
func join(path, key string) string {
	if strings.ContainsFunc(key, func(r rune) bool { return r >= 0x80 || !isAlphanumeric(byte(r)) && r != '_' && r != '-' }) {
		key = strconv.Quote(shorten(key))
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

// index is the path of an entry of a list.
func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
