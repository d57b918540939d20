package sim

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth of values in values. No key lies deeper than 5.
const maxDepth = 16

// document is the root of the text's only document, or nil and the one problem that keeps it from being
// read. The text becomes nodes and never values: nodes have their places, and an alias stays an alias, so
// that a text whose aliases multiply costs no more than its length.
func document(text []byte) (*yaml.Node, *Problem) {
	nodes := yaml.NewDecoder(bytes.NewReader(text))
	first, err := nextDocument(nodes)
	switch {
	case errors.Is(err, io.EOF) || err == nil && len(first.Content) == 0:
		return nil, &Problem{Line: 1, Column: 1, Message: "there is no scenario in it"}
	case err != nil:
		return nil, notYAML(err)
	}
	second, err := nextDocument(nodes)
	switch {
	case err == nil:
		return nil, &Problem{Line: second.Line, Column: second.Column, Message: "a second document begins here",
			Hint: "a scenario is one document: remove the ---"}
	case !errors.Is(err, io.EOF):
		return nil, notYAML(err)
	}
	root := first.Content[0]
	return root, refused(root, 1)
}

// nextDocument is io.EOF behind the last one. A text that the parser did not expect is an error too, not a
// panic.
func nextDocument(nodes *yaml.Decoder) (n *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, fmt.Errorf("reading the document: %v", r)
		}
	}()
	n = new(yaml.Node)
	return n, nodes.Decode(n)
}

// notYAML is the parser's error. It has a line at most, and in its text only.
func notYAML(err error) *Problem {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	p := &Problem{Line: 1, Column: 1}
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if number, what, ok := strings.Cut(rest, ": "); ok {
			fmt.Sscanf(number, "%d", &p.Line)
			message = what
		}
	}
	p.Message = "not YAML: " + message
	return p
}

// refused is about the first node that uses what scenarios, like configurations, leave out of YAML.
func refused(n *yaml.Node, depth int) *Problem {
	const plain = "write the value out where it is used"
	p := &Problem{Line: n.Line, Column: n.Column, Hint: plain}
	switch {
	case n.Kind == yaml.AliasNode:
		p.Message = "aliases are not accepted: *" + n.Value
		return p
	case n.Anchor != "":
		p.Message = "anchors are not accepted: &" + n.Anchor
		return p
	case n.Tag == "!!merge":
		p.Message = "merge keys are not accepted: <<"
		return p
	case n.Style&yaml.TaggedStyle != 0:
		p.Message, p.Hint = "tags are not accepted: "+n.Tag, "remove the tag"
		return p
	case depth > maxDepth:
		p.Message, p.Hint = fmt.Sprintf("values lie more than %d levels deep", maxDepth), ""
		return p
	}
	for _, inner := range n.Content {
		if p := refused(inner, depth+1); p != nil {
			return p
		}
	}
	return nil
}
