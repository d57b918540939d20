package ctl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// isDocument is true where the format that was chosen is one for programs: the whole of what the daemon answered.
func (s *session) isDocument() bool { return s.format == formatJSON || s.format == formatYAML }

// writeDocument writes a document in the format that was chosen.
func (s *session) writeDocument(v any) error {
	if s.format == formatYAML {
		return writeYAML(s.Out, v)
	}
	return writeJSON(s.Out, v)
}

// writeStreamed writes one of a row of documents that has no end: JSON a line each, YAML with a line between them.
func (s *session) writeStreamed(v any) error {
	if s.format == formatYAML {
		fmt.Fprintln(s.Out, "---")
		return writeYAML(s.Out, v)
	}
	enc := json.NewEncoder(s.Out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// writeJSON writes one document, indented.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// writeYAML writes one document with the keys of its JSON, in their order.
func writeYAML(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	node, err := yamlNode(dec)
	if err != nil {
		return err
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(node); err != nil {
		return err
	}
	return enc.Close()
}

// yamlNode reads the next JSON value.
func yamlNode(dec *json.Decoder) (*yaml.Node, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch value := token.(type) {
	case json.Delim:
		return yamlCollection(dec, value)
	case string:
		node := &yaml.Node{}
		node.SetString(value)
		return node, nil
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(token)}, nil // a number or a boolean, written alike
}

// yamlCollection reads an object or a list behind its first bracket, keys as values between them.
func yamlCollection(dec *json.Decoder, open json.Delim) (*yaml.Node, error) {
	node := &yaml.Node{Kind: yaml.SequenceNode}
	if open == '{' {
		node.Kind = yaml.MappingNode
	}
	for dec.More() {
		item, err := yamlNode(dec)
		if err != nil {
			return nil, err
		}
		node.Content = append(node.Content, item)
	}
	_, err := dec.Token()
	return node, err
}
