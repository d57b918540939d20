// Package statefile keeps the member lists that were set at run time in a file, so that a restart does not lose
// them (docs/admin-api.md#the-state-file).
//
// The file is replaced as a whole, never written to in place: whoever reads it, at whatever moment the
// process died, finds one whole state. What a list means, and whether a pool still wants it, is the
// daemon's business.
package statefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Schema is the form of the file. A later one that this program cannot read gets another number.
const Schema = "scalws.state/1"

// State is what the file holds.
type State struct {
	Schema string `json:"schema"`
	// Written is when a running daemon last stood for the lists.
	Written time.Time `json:"written"`
	// Pools whose lists were set at run time.
	Pools []Pool `json:"pools"`
}

// Pool is a pool and its list.
type Pool struct {
	Name string `json:"name"`
	// Revision of the list.
	Revision uint64   `json:"revision"`
	Members  []Member `json:"members"`
}

// Member is an entry of a list, in canonical form.
type Member struct {
	Address string `json:"address"`
	Weight  int    `json:"weight"`
}

// encode is the text of a state, a line a pool: people look into such files.
func encode(s State) ([]byte, error) {
	var text bytes.Buffer
	written, err := s.Written.UTC().MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encoding the time: %w", err)
	}
	fmt.Fprintf(&text, "{\"schema\": %q, \"written\": %s, \"pools\": [", s.Schema, written)
	for i, p := range s.Pools {
		if p.Members == nil {
			p.Members = []Member{}
		}
		line, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("encoding pool %s: %w", p.Name, err)
		}
		if i > 0 {
			text.WriteByte(',')
		}
		text.WriteString("\n ")
		text.Write(line)
	}
	text.WriteString("\n]}\n")
	return text.Bytes(), nil
}

// decode reads what encode wrote. Anything else is an error: half a state is worse than none.
func decode(text []byte) (State, error) {
	var s State
	var form struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return s, err
	}
	if form.Schema != Schema {
		return s, fmt.Errorf("its schema is %.40q, this program reads %q", form.Schema, Schema)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return s, errors.New("more after the object")
	}
	if s.Written.IsZero() {
		return s, errors.New("the time is missing")
	}
	seen := make(map[string]bool, len(s.Pools))
	for _, p := range s.Pools {
		if p.Name == "" || seen[p.Name] {
			return s, fmt.Errorf("pool %.40q is given twice or has no name", p.Name)
		}
		seen[p.Name] = true
	}
	return s, nil
}
