package ctl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// checkKeys refuses what encoding/json lets pass in a member list: a key that is given twice, of which it
// takes the last, and a key in another case, which it takes for the one that is meant. The daemon refuses
// both, and the same list must not mean two things. The text is known to be JSON.
func checkKeys(text []byte) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	var open []*openValue // around the next token, the innermost last
	for {
		token, err := dec.Token()
		if err != nil {
			return nil // the end
		}
		in := &openValue{}
		if len(open) > 0 {
			in = open[len(open)-1]
		}
		switch key, isText := token.(string); {
		case token == json.Delim('}') || token == json.Delim(']'):
			open = open[:len(open)-1]
		case isText && in.keyNext:
			if err := in.add(key); err != nil {
				return fmt.Errorf("line %d: %w", lineAt(text, dec.InputOffset()), err)
			}
		default:
			in.keyNext = in.object
			if token == json.Delim('{') || token == json.Delim('[') {
				object := token == json.Delim('{')
				open = append(open, &openValue{object: object, keyNext: object})
			}
		}
	}
}

// openValue is an object or a list whose end has not been read.
type openValue struct {
	object  bool
	keyNext bool
	keys    []string
}

func (o *openValue) add(key string) error {
	switch {
	case !slices.Contains([]string{"members", "address", "weight"}, key):
		return fmt.Errorf("unknown key %q", key)
	case slices.Contains(o.keys, key):
		return fmt.Errorf("the key %q is given twice", key)
	}
	o.keys = append(o.keys, key)
	o.keyNext = false
	return nil
}
