package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// maxDepth of values in values. No key of any format lies deeper than 10.
const maxDepth = 32

// MaxText bounds a text in bytes.
const MaxText = 4 << 20

// Format is a file format.
type Format struct {
	// Name of what is read: "configuration".
	Name string
	// Least says what the smallest text has; a hint for empty ones.
	Least string
}

// document is the root of the text's only document, or the one problem that keeps it from being read
// (docs/configuration.md#the-yaml-that-is-read).
//
// The text is decoded into nodes, never into values: nodes keep their places, and an alias stays an
// alias, so that a text whose aliases multiply costs no more than its length.
func document(text []byte, format Format) (*yaml.Node, *Problem) {
	fail := func(line, column int, f *Fault) (*yaml.Node, *Problem) {
		return nil, &Problem{Code: f.Code, Line: line, Column: column, Message: f.Message, Hint: f.Hint}
	}
	if len(text) > MaxText {
		return fail(0, 0, &Fault{Code: CodeFileTooLarge,
			Message: "the text is larger than " + FormatSize(MaxText)})
	}
	if offset, f := checkText(text); f != nil {
		line, column := place(withoutMark(text), max(0, offset-(len(text)-len(withoutMark(text)))))
		return fail(line, column, f)
	}
	text = withoutMark(text)

	nodes := yaml.NewDecoder(bytes.NewReader(text))
	first, err := nextDocument(nodes)
	if errors.Is(err, io.EOF) || err == nil && isEmpty(first) {
		return fail(1, 1, &Fault{CodeEmptyFile, "there is no " + format.Name + " in it", format.Least})
	}
	if err != nil {
		return fail(syntaxProblem(text, err))
	}
	second, err := nextDocument(nodes)
	if err == nil {
		return fail(second.Line, second.Column, &Fault{CodeSeveralDocuments,
			"a second document begins here", "a " + format.Name + " is one document: remove the ---"})
	}
	if !errors.Is(err, io.EOF) {
		return fail(syntaxProblem(text, err))
	}
	root := first.Content[0]
	if n, f := refused(root, 1); f != nil {
		return fail(n.Line, n.Column, f)
	}
	return root, nil
}

// nextDocument is io.EOF behind the last one. The parser reports a text that it cannot read as an error,
// and one that it did not expect as a panic; a text must never end the process, so that both
// come back as errors.
func nextDocument(nodes *yaml.Decoder) (n *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			n, err = nil, fmt.Errorf("reading the document: %v", r)
		}
	}()
	n = &yaml.Node{}
	if err := nodes.Decode(n); err != nil {
		return nil, err
	}
	return n, nil
}

// isEmpty is true for a document without a value: nothing at all, only comments, or a lone "---".
func isEmpty(doc *yaml.Node) bool {
	if len(doc.Content) == 0 {
		return true
	}
	n := doc.Content[0]
	return n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Anchor == ""
}

// refused is the first node that uses what is left out of YAML.
func refused(n *yaml.Node, depth int) (*yaml.Node, *Fault) {
	const plain = "write the value out where it is used"
	switch {
	case n.Kind == yaml.AliasNode:
		return n, &Fault{Code: CodeAnchorOrAlias, Message: "aliases are not accepted: *" + n.Value, Hint: plain}
	case n.Anchor != "":
		return n, &Fault{Code: CodeAnchorOrAlias, Message: "anchors are not accepted: &" + n.Anchor, Hint: plain}
	case n.Tag == "!!merge":
		return n, &Fault{Code: CodeAnchorOrAlias, Message: "merge keys are not accepted: <<", Hint: plain}
	case n.Style&yaml.TaggedStyle != 0:
		return n, &Fault{Code: CodeTag, Message: "tags are not accepted: " + n.Tag, Hint: "remove the tag"}
	case depth > maxDepth:
		return n, tooDeep()
	}
	for _, inner := range n.Content {
		if at, f := refused(inner, depth+1); f != nil {
			return at, f
		}
	}
	return nil, nil
}

func tooDeep() *Fault {
	return &Fault{Code: CodeNestedTooDeep, Message: fmt.Sprintf("values lie more than %d levels deep", maxDepth)}
}
