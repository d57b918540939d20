package ctl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/scalws/scalws/pkg/api"
)

// parseMember reads ADDR[=WEIGHT]. The address is the daemon's to judge; here it only must be there.
func parseMember(text string) (api.SetMember, error) {
	at := strings.LastIndexByte(text, '=')
	if at < 0 {
		if text == "" {
			return api.SetMember{}, errors.New("the address is empty")
		}
		return api.SetMember{Address: text}, nil
	}
	if at == 0 {
		return api.SetMember{}, fmt.Errorf("%q has no address before the \"=\"", text)
	}
	weight, err := strconv.Atoi(text[at+1:])
	if err != nil || weight < api.MinWeight || weight > api.MaxWeight {
		return api.SetMember{}, fmt.Errorf("%q: the weight must be a whole number from %d to %d, it is %q",
			text, api.MinWeight, api.MaxWeight, text[at+1:])
	}
	return api.SetMember{Address: text[:at], Weight: &weight}, nil
}

// parseMembers reads the arguments of a command.
func parseMembers(args []string) ([]api.SetMember, error) {
	members := make([]api.SetMember, 0, len(args))
	for i, arg := range args {
		m, err := parseMember(arg)
		if err != nil {
			return nil, invalid(shapeHint, fmt.Errorf("member %d: %w", i+1, err))
		}
		members = append(members, m)
	}
	return members, nil
}

// shapeHint is what a member looks like.
const shapeHint = "a member is ADDR or ADDR=WEIGHT, for example 192.0.2.5:8080=2"

// parseMemberFile reads a list in any of its three forms.
func parseMemberFile(name string, text []byte) ([]api.SetMember, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var members []api.SetMember
	var err error
	hint := shapeHint
	switch {
	case bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")):
		var body api.SetMembers
		err = decodeJSON(text, &body)
		members = body.Members
		hint = `the file must be {"members": [{"address": "192.0.2.5:8080", "weight": 2}]}`
	case isJSONList(text):
		err = decodeJSON(text, &members)
		hint = `the file must be [{"address": "192.0.2.5:8080", "weight": 2}]`
	default:
		members, err = parseLines(text)
	}
	if err != nil {
		return nil, invalid(hint, fmt.Errorf("%s: %w", name, err))
	}
	return members, nil
}

// isJSONList tells a JSON list from a line that begins with an IPv6 address in brackets: after the bracket
// comes a value or the end of the list, and no address begins like that.
func isJSONList(text []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(text), []byte("["))
	if !ok {
		return false
	}
	rest = bytes.TrimSpace(rest)
	return len(rest) == 0 || bytes.ContainsRune([]byte(`{]"`), rune(rest[0]))
}

// decodeJSON reads one JSON value and nothing else. A key that nobody knows is an error: a misspelt
// "weight" must not quietly become 1.
func decodeJSON(text []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("line %d: the text ends in the middle", lineAt(text, int64(len(text))))
	} else if err != nil {
		return fmt.Errorf("line %d: %w", lineAt(text, jsonOffset(err, dec)), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("line %d: there is more text after the list", lineAt(text, dec.InputOffset()))
	}
	if body, ok := v.(*api.SetMembers); ok && body.Members == nil {
		return errors.New(`"members" is missing`)
	}
	return checkKeys(text)
}

// jsonOffset is where decoding failed.
func jsonOffset(err error, dec *json.Decoder) int64 {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return syntax.Offset
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return kind.Offset
	}
	return dec.InputOffset()
}

// lineAt is the number of the line at an offset.
func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(int(offset), len(text))], []byte("\n"))
}

// parseLines reads one member a line. A # at the beginning of a line or after a space begins a comment;
// anywhere else it belongs to a path.
func parseLines(text []byte) ([]api.SetMember, error) {
	var members []api.SetMember
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		fields := strings.Fields(line)
		for i, f := range fields {
			if strings.HasPrefix(f, "#") {
				fields = fields[:i]
				break
			}
		}
		switch len(fields) {
		case 0:
			continue
		case 1:
		default:
			return nil, fmt.Errorf("line %d: one member a line, there is also %q", n, fields[1])
		}
		m, err := parseMember(fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		members = append(members, m)
	}
	return members, nil
}
