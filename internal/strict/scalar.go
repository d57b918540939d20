package strict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Form is how the text of a scalar becomes a T.
type Form[T any] struct {
	// Wants is the type in words, Bound its bound in words.
	Wants string
	Bound string
	// Takes says which scalars the form is for.
	Takes Notation
	Parse func(text string) (T, *Fault)
	// Format is the text for a value, what Parse reads; nil for texts, numbers and truth values, which are shown
	// as they are.
	Format func(T) string
	// Schema is the JSON Schema of the scalars; nil is that of any text.
	Schema Shown
}

// show is the value as it would stand in the file; false for one that Parse would refuse, as it does the zero
// value of a key without a default that was not given.
func (f Form[T]) show(x T) (any, bool) {
	if f.Format != nil {
		text := f.Format(x)
		_, fault := f.Parse(text)
		return text, fault == nil
	}
	_, fault := f.Parse(fmt.Sprint(x))
	return x, fault == nil
}

// Notation is how a scalar may be written.
type Notation uint8

// The notations.

const (
	// AsText takes every quoted text, and a plain one unless YAML reads it as a number, a truth value or
	// nothing: what is meant by them is not certain.
	AsText Notation = iota
	// AsWritten takes the characters, quoted or not: a size, a duration or a mode is what it looks like.
	AsWritten
	// AsPlain takes the characters if they are not quoted: numbers and truth values.
	AsPlain
)

// Scalar reads one value.
func Scalar[T any](to *T, f Form[T]) Kind {
	return Kind{
		Wants: f.Wants,
		Bound: f.Bound,
		Read: func(d *Decoder, v Value) {
			if x, ok := readScalar(d, v, f); ok {
				*to = x
			}
		},
		Preset: func(def string) {
			if def == "" {
				return
			}
			if x, fault := f.Parse(def); fault == nil {
				*to = x
			}
		},
		Show:   func() (any, bool) { return f.show(*to) },
		Schema: f.schema,
	}
}

// ScalarOf is for lists of scalars.
func ScalarOf[T any](f Form[T]) func(*T) Kind {
	return func(to *T) Kind { return Scalar(to, f) }
}

// Optional reads one value whose absence is nil.
func Optional[T any](to **T, f Form[T]) Kind {
	return Kind{
		Wants: f.Wants,
		Bound: f.Bound,
		Read: func(d *Decoder, v Value) {
			if x, ok := readScalar(d, v, f); ok {
				*to = &x
			}
		},
		Show: func() (any, bool) {
			if *to == nil {
				return nil, false
			}
			return f.show(**to)
		},
		Schema: f.schema,
	}
}

func readScalar[T any](d *Decoder, v Value, f Form[T]) (T, bool) {
	var none T
	if !v.IsScalar() {
		hint := ""
		if v.Node.Kind == yaml.SequenceNode && f.Takes == AsText {
			hint = "write one value; a text that starts with [ needs quotes"
		}
		d.WrongType(v, f.Wants, hint)
		return none, false
	}
	plain := v.Node.Style == 0
	switch {
	case f.Takes == AsText && plain && (v.Node.Tag == "!!int" || v.Node.Tag == "!!float" || v.Node.Tag == "!!bool"):
		d.WrongType(v, f.Wants, "put it in quotes")
		return none, false
	case f.Takes == AsPlain && !plain:
		d.WrongType(v, f.Wants, "write it without quotes")
		return none, false
	}
	x, fault := f.Parse(v.Node.Value)
	if fault == nil {
		return x, true
	}
	if fault.Code == CodeWrongType {
		d.WrongType(v, f.Wants, fault.Hint)
	} else {
		d.FailValue(v, fault)
	}
	return none, false
}

// AnyText takes every text: somebody else knows the rule.
func AnyText(wants, bound string) Form[string] {
	return Form[string]{Wants: wants, Bound: bound, Parse: func(text string) (string, *Fault) { return text, nil }}
}

// Text takes any text of 1 to 255 printable characters.
func Text() Form[string] {
	const most = 255
	schema := Shown{{"type", "string"}, {"minLength", 1}, {"maxLength", most}}
	return Form[string]{Wants: "a text", Bound: "1 to 255 bytes", Schema: schema, Parse: func(text string) (string, *Fault) {
		if text == "" {
			return "", &Fault{Code: CodeInvalidText, Message: "must not be empty"}
		}
		if len(text) > most {
			return "", OutOfRange("1", "255 bytes")
		}
		if strings.ContainsFunc(text, unicode.IsControl) {
			return "", &Fault{Code: CodeInvalidText, Message: "must not hold control characters"}
		}
		return text, nil
	}}
}

// Whole takes decimal numbers. Other notations of YAML 1.1 and 1.2 (0o17, 017, 0x1f, 1_000, 1e3) are
// refused: readers of YAML disagree about them.
func Whole(low, high int) Form[int] {
	return Form[int]{
		Wants:  "a whole number",
		Bound:  fmt.Sprintf("%d to %d", low, high),
		Takes:  AsPlain,
		Schema: integers(int64(low), int64(high)),
		Parse: func(text string) (int, *Fault) {
			number := strings.TrimPrefix(text, "-")
			if !onlyDigits(number) || len(number) > 1 && number[0] == '0' {
				f := &Fault{Code: CodeWrongType}
				if number != "" && number[0] >= '0' && number[0] <= '9' {
					f.Hint = "write it in plain decimal digits"
				}
				return 0, f
			}
			// Digits alone fail only by being too many.
			n, err := strconv.Atoi(text)
			if err != nil || n < low || n > high {
				return 0, OutOfRange(strconv.Itoa(low), strconv.Itoa(high))
			}
			return n, nil
		},
	}
}

// Fraction takes decimal numbers with or without a point.
func Fraction(low, high float64) Form[float64] {
	return Form[float64]{
		Wants:  "a number",
		Bound:  decimal(low) + " to " + decimal(high),
		Takes:  AsPlain,
		Schema: Shown{{"type", "number"}, {"minimum", low}, {"maximum", high}},
		Parse: func(text string) (float64, *Fault) {
			before, after, point := strings.Cut(strings.TrimPrefix(text, "-"), ".")
			if !onlyDigits(before) || point && !onlyDigits(after) {
				return 0, &Fault{Code: CodeWrongType, Hint: "write it like 0.2"}
			}
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || x < low || x > high {
				return 0, OutOfRange(decimal(low), decimal(high))
			}
			// -0 would print as such.
			return x + 0, nil
		},
	}
}

// Truth takes true and false as YAML 1.2 has them, and neither yes nor on.
func Truth() Form[bool] {
	return Form[bool]{
		Wants:  "true or false",
		Takes:  AsPlain,
		Schema: Shown{{"type", "boolean"}},
		Parse: func(text string) (bool, *Fault) {
			switch text {
			case "true", "True", "TRUE":
				return true, nil
			case "false", "False", "FALSE":
				return false, nil
			}
			f := &Fault{Code: CodeWrongType}
			switch strings.ToLower(text) {
			case "yes", "y", "on", "1":
				f.Hint = "write true"
			case "no", "n", "off", "0":
				f.Hint = "write false"
			}
			return false, f
		},
	}
}

// Choice takes one of a few texts.
func Choice[T ~string](of ...T) Form[T] {
	texts := make([]string, len(of))
	for i, t := range of {
		texts[i] = string(t)
	}
	return Form[T]{
		Wants:  "a text",
		Bound:  strings.Join(texts, ", "),
		Schema: Shown{{"enum", texts}},
		Parse: func(text string) (T, *Fault) {
			if slices.Contains(texts, text) {
				return T(text), nil
			}
			f := &Fault{Code: CodeInvalidChoice, Message: fmt.Sprintf("must be %s, found %q",
				alternatives(texts), Shorten(text))}
			if near := Nearest(text, texts); near != "" {
				f.Hint = fmt.Sprintf("did you mean %s?", near)
			}
			return "", f
		},
	}
}

// Either takes one of two texts; the second is true.
func Either(no, yes string) Form[bool] {
	f := Choice(no, yes)
	return Form[bool]{Wants: f.Wants, Bound: f.Bound, Schema: f.Schema,
		Parse: func(text string) (bool, *Fault) {
			is, fault := f.Parse(text)
			return is == yes, fault
		},
		Format: func(is bool) string {
			if is {
				return yes
			}
			return no
		},
	}
}

// alternatives is "a", "a or b", "a, b or c".
func alternatives(texts []string) string {
	last := len(texts) - 1
	if last == 0 {
		return texts[0]
	}
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

// OutOfRange says between what a value must lie.
func OutOfRange(low, high string) *Fault {
	return &Fault{Code: CodeOutOfRange, Message: "must be between " + low + " and " + high}
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

const digits = "0123456789"

func onlyDigits(s string) bool { return s != "" && strings.Trim(s, digits) == "" }
