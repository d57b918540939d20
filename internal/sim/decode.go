package sim

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// value is a node of the text, its path and, in a section, the node of its key.
type value struct {
	path string
	key  *yaml.Node
	node *yaml.Node
}

// at is where a problem of the value as a whole is shown: sections and lists begin on the line after
// their key.
func (v value) at() *yaml.Node {
	if v.key != nil {
		return v.key
	}
	return v.node
}

// decoder reads nodes. It collects problems and goes on.
type decoder struct {
	file     string
	problems Problems
}

func (d *decoder) add(at *yaml.Node, path, message, hint string) {
	d.problems = append(d.problems, Problem{File: d.file, Line: at.Line, Column: at.Column, Path: path,
		Message: message, Hint: hint})
}

// fail reports a problem of the value.
func (d *decoder) fail(v value, format string, args ...any) {
	d.add(v.node, v.path, fmt.Sprintf(format, args...), "")
}

// failKey reports a problem at the key of the value.
func (d *decoder) failKey(v value, hint, format string, args ...any) {
	d.add(v.at(), v.path, fmt.Sprintf(format, args...), hint)
}

// field is a key of a section and how its value is read.
type field struct {
	name string
	need bool
	read func(value)
}

// section reads a mapping by its table and returns the keys that it has.
func (d *decoder) section(v value, fields ...field) map[string]value {
	if v.node.Kind != yaml.MappingNode {
		d.wrongType(v, "a section (key: value)")
		return nil
	}
	given := make(map[string]value, len(fields))
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		key := v.node.Content[i]
		if key.Kind != yaml.ScalarNode {
			d.add(key, v.path, "a key must be a text, found "+describe(key), "")
			continue
		}
		child := value{path: join(v.path, key.Value), key: key, node: v.node.Content[i+1]}
		before, twice := given[key.Value]
		f := find(fields, key.Value)
		switch {
		case f == nil:
			d.failKey(child, "keys here: "+names(fields), "unknown key")
		case twice:
			d.failKey(child, "remove one of the two", "the key was given before, on line %d", before.key.Line)
		case isNull(child.node):
			// The parser puts a value that is not there at the token that follows.
			given[key.Value] = child
			d.failKey(child, "give it a value, or remove it", "the value is missing")
		default:
			given[key.Value] = child
			f.read(child)
		}
	}
	for _, f := range fields {
		if _, ok := given[f.name]; f.need && !ok {
			d.add(v.at(), join(v.path, f.name), "this key is required", "")
		}
	}
	return given
}

// list reads a sequence of at most most entries.
func (d *decoder) list(v value, most int, read func(entry value)) {
	switch {
	case v.node.Kind != yaml.SequenceNode:
		d.wrongType(v, "a list")
	case len(v.node.Content) > most:
		d.failKey(v, "", "must have at most %d entries, found %d", most, len(v.node.Content))
	default:
		for i, node := range v.node.Content {
			read(value{path: v.path + "[" + strconv.Itoa(i) + "]", node: node})
		}
	}
}

func (d *decoder) wrongType(v value, wants string) {
	d.fail(v, "must be %s, found %s", wants, describe(v.node))
}

func find(fields []field, name string) *field {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

func names(fields []field) string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.name
	}
	return strings.Join(all, ", ")
}

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
	default:
		return strconv.Quote(shorten(n.Value))
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

func join(path, key string) string {
	if path == "" {
		return shorten(key)
	}
	return path + "." + shorten(key)
}
