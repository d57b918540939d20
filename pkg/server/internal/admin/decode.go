package admin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

// bodyForm and previewForm are what a body must look like, for messages.
const (
	bodyForm    = `{"members": [{"address": "192.0.2.5:8080", "weight": 1}]}`
	previewForm = `{"members": [{"address": "192.0.2.5:8080", "weight": 1}], "keys": ["a key"]}`
)

// decodeMembers reads the body of a PUT strictly: a key that is unknown or given twice, a value of another
// type, or anything after the object is an error. It returns the canonical list, or a problem that
// lists every wrong entry.
func decodeMembers(body []byte, https bool) ([]lb.Member, error) {
	d := newDecoder(body, bodyForm)
	return d.decode(body, https)
}

// decodePreview reads the body of a preview in the same way. Keys are optional.
func decodePreview(body []byte, https bool) (members []lb.Member, keys []string, err error) {
	d := newDecoder(body, previewForm)
	d.takesKeys = true
	members, err = d.decode(body, https)
	return members, d.keys, err
}

// decoder builds the list, with a default where an entry is wrong so that the rest of it is checked too.
//
// It walks over the tokens because encoding/json's structs take keys in any case, let the last of two
// equal keys win, and stop at the first wrong value.
type decoder struct {
	json *json.Decoder
	form string
	// takesKeys is true where the object may have keys beside the members.
	takesKeys bool
	// raw is the value read last.
	raw      json.RawMessage
	members  []lb.Member
	problems []lb.MemberError
	keys     []string
}

func newDecoder(body []byte, form string) *decoder {
	return &decoder{json: json.NewDecoder(bytes.NewReader(body)), form: form}
}

func (d *decoder) decode(body []byte, https bool) ([]lb.Member, error) {
	if !utf8.Valid(body) {
		return nil, d.invalid("not valid UTF-8") // RFC 8259 section 8.1
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, d.invalid("empty")
	}
	if err := d.document(); err != nil {
		var problem *api.Problem
		if errors.As(err, &problem) {
			return nil, problem
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, d.invalid("not valid JSON near byte " + strconv.FormatInt(d.json.InputOffset(), 10) + ": " + err.Error())
	}
	members, problems := lb.CheckMembers(d.members, https)
	problems = slices.DeleteFunc(problems, d.reported)
	problems = append(problems, d.problems...)
	if len(problems) > 0 {
		slices.SortStableFunc(problems, func(a, b lb.MemberError) int {
			return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Field, b.Field))
		})
		return nil, invalidMembers(problems)
	}
	return members, nil
}

// document reads the whole body. The error is a problem or what the JSON decoder says.
func (d *decoder) document() error {
	token, err := d.json.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('{') {
		return d.invalid("not an object")
	}
	found := map[json.Token]bool{}
	for d.json.More() {
		key, err := d.json.Token()
		if err != nil {
			return err
		}
		read := d.list
		switch {
		case key == "keys" && d.takesKeys:
			read = d.keyList
		case key != "members":
			return d.invalid("unknown key " + escaped(key))
		}
		if found[key] {
			return d.invalid(fmt.Sprintf("%q is given twice", key))
		}
		found[key] = true
		if err := read(); err != nil {
			return err
		}
	}
	if _, err := d.json.Token(); err != nil { // the closing brace
		return err
	}
	if _, err := d.json.Token(); !errors.Is(err, io.EOF) {
		return d.invalid("more after the object")
	}
	if !found["members"] {
		return d.invalid(`"members" is missing`)
	}
	return nil
}

// open reads the bracket that begins the list of a key.
func (d *decoder) open(key string) error {
	token, err := d.json.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('[') {
		return d.invalid(fmt.Sprintf("%q is not a list", key))
	}
	return nil
}

// list reads the value of members.
func (d *decoder) list() error {
	if err := d.open("members"); err != nil {
		return err
	}
	for i := 0; d.json.More(); i++ {
		if i > lb.MaxMembers {
			// One more than allowed is in the list, which is enough to refuse it. The rest need only be JSON.
			if err := d.value(); err != nil {
				return err
			}
			continue
		}
		if err := d.entry(i); err != nil {
			return err
		}
	}
	_, err := d.json.Token() // the closing bracket
	return err
}

// keyList reads the value of keys, up to the first wrong one.
func (d *decoder) keyList() error {
	if err := d.open("keys"); err != nil {
		return err
	}
	for i := 0; d.json.More(); i++ {
		if i == api.MaxKeys {
			return invalidKey(-1, fmt.Sprintf("has more than %d entries", api.MaxKeys))
		}
		if err := d.value(); err != nil {
			return err
		}
		var key string
		if d.raw[0] != '"' || json.Unmarshal(d.raw, &key) != nil || key == "" {
			return invalidKey(i, "must be a text that is not empty")
		}
		d.keys = append(d.keys, key)
	}
	_, err := d.json.Token() // the closing bracket
	return err
}

// entry reads one member.
func (d *decoder) entry(i int) error {
	d.members = append(d.members, lb.Member{Weight: lb.DefaultWeight})
	m := &d.members[i]
	token, err := d.json.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('{') {
		d.wrong(i, "address", `must be in an object such as {"address": "192.0.2.5:8080"}`)
		return d.skip(token)
	}
	var hasAddress, hasWeight, unknown bool
	for d.json.More() {
		key, err := d.json.Token()
		if err != nil {
			return err
		}
		if err := d.value(); err != nil {
			return err
		}
		switch key {
		case "address":
			if hasAddress {
				d.wrong(i, "address", "is given twice")
				continue
			}
			hasAddress = true
			d.address(i, m)
		case "weight":
			if hasWeight {
				d.wrong(i, "weight", "is given twice")
				continue
			}
			hasWeight = true
			d.weight(i, m)
		default:
			if !unknown { // one is enough: a body of nothing but unknown keys must not make a longer answer
				d.wrong(i, escaped(key), "is not a known key: an entry has address and weight")
			}
			unknown = true
		}
	}
	if !hasAddress {
		d.wrong(i, "address", "is missing")
	}
	_, err = d.json.Token() // the closing brace
	return err
}

func (d *decoder) address(i int, m *lb.Member) {
	if d.raw[0] != '"' {
		d.wrong(i, "address", `must be a text such as "192.0.2.5:8080"`)
		return
	}
	if err := json.Unmarshal(d.raw, &m.Address); err != nil {
		d.wrong(i, "address", err.Error())
	}
}

// weight takes a JSON number without a fraction or an exponent. Bounds are the engine's to check.
func (d *decoder) weight(i int, m *lb.Member) {
	n, err := strconv.Atoi(string(d.raw))
	switch {
	case err == nil:
		m.Weight = n
	case errors.Is(err, strconv.ErrRange):
		m.Weight = 0 // out of bounds, like the number that is too long for an int
	default:
		d.wrong(i, "weight", "must be a whole number between 1 and 1000")
	}
}

// value reads any value whole into raw. Its depth is bounded by encoding/json.
func (d *decoder) value() error {
	d.raw = d.raw[:0]
	return d.json.Decode(&d.raw)
}

// skip reads the rest of a value that began with token.
func (d *decoder) skip(token json.Token) error {
	depth := 0
	for {
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if token, err = d.json.Token(); err != nil {
			return err
		}
	}
}

func (d *decoder) wrong(i int, field, message string) {
	d.problems = append(d.problems, lb.MemberError{Index: i, Field: field, Message: message})
}

// reported tells whether e is about something that the decoder found wrong already. Its problems are in
// the order of the entries.
func (d *decoder) reported(e lb.MemberError) bool {
	first, _ := slices.BinarySearchFunc(d.problems, e.Index, func(p lb.MemberError, i int) int { return cmp.Compare(p.Index, i) })
	for _, p := range d.problems[first:] {
		if p.Index != e.Index {
			return false
		}
		if p.Field == e.Field {
			return true
		}
	}
	return false
}

// escaped is a key of the body as a message or a path may show it.
func escaped(key json.Token) string {
	s, _ := key.(string)
	quoted := strconv.Quote(cut(s))
	return quoted[1 : len(quoted)-1]
}

func (d *decoder) invalid(what string) *api.Problem {
	return refuse(api.CodeInvalidBody, "body: %s: must be %s", what, d.form)
}

// invalidKey is the problem for a wrong key, or with index -1 for all of them.
func invalidKey(i int, what string) *api.Problem {
	place := "keys"
	if i >= 0 {
		place = fmt.Sprintf("keys[%d]", i)
	}
	p := refuse(api.CodeInvalidKeys, "%s: %s", place, what)
	p.Errors = []api.FieldError{{Path: place, Detail: what}}
	return p
}

// invalidMembers is the problem for wrong entries, of which there is at least one.
func invalidMembers(problems []lb.MemberError) *api.Problem {
	p := refuse(api.CodeInvalidMembers, "%s", problems[0].Error())
	for _, e := range problems {
		p.Errors = append(p.Errors, api.FieldError{Path: e.Path(), Detail: e.Message})
	}
	return p
}
