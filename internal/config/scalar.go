package config

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// form is how the text of a scalar becomes a T.
type form[T any] struct {
	// wants is the type in words, bound its bound in words.
	wants string
	bound string
	// takes says which scalars the form is for.
	takes notation
	parse func(text string) (T, *fault)
}

// notation is how a scalar may be written.
type notation uint8

const (
	// asText takes every quoted text, and a plain one unless YAML reads it as a number, a truth value or
	// nothing: what is meant by them is not certain.
	asText notation = iota
	// asWritten takes the characters, quoted or not: a size, a duration or a mode is what it looks like.
	asWritten
	// asPlain takes the characters if they are not quoted: numbers and truth values.
	asPlain
)

// scalar reads one value.
func scalar[T any](to *T, f form[T]) kind {
	return kind{
		wants: f.wants,
		bound: f.bound,
		read: func(d *decoder, v value) {
			if x, ok := readScalar(d, v, f); ok {
				*to = x
			}
		},
		preset: func(def string) {
			if def == "" {
				return
			}
			if x, fault := f.parse(def); fault == nil {
				*to = x
			}
		},
	}
}

// scalarOf is for lists of scalars.
func scalarOf[T any](f form[T]) func(*T) kind {
	return func(to *T) kind { return scalar(to, f) }
}

// optional reads one value whose absence is nil.
func optional[T any](to **T, f form[T]) kind {
	return kind{
		wants: f.wants,
		bound: f.bound,
		read: func(d *decoder, v value) {
			if x, ok := readScalar(d, v, f); ok {
				*to = &x
			}
		},
	}
}

func readScalar[T any](d *decoder, v value, f form[T]) (T, bool) {
	var none T
	if v.node.Kind != yaml.ScalarNode || isNull(v.node) {
		hint := ""
		if v.node.Kind == yaml.SequenceNode && f.takes == asText {
			hint = "write one value; a text that starts with [ needs quotes"
		}
		d.wrongType(v, f.wants, hint)
		return none, false
	}
	plain := v.node.Style == 0
	switch {
	case f.takes == asText && plain && (v.node.Tag == "!!int" || v.node.Tag == "!!float" || v.node.Tag == "!!bool"):
		d.wrongType(v, f.wants, "put it in quotes")
		return none, false
	case f.takes == asPlain && !plain:
		d.wrongType(v, f.wants, "write it without quotes")
		return none, false
	}
	x, fault := f.parse(v.node.Value)
	if fault == nil {
		return x, true
	}
	if fault.code == codeWrongType {
		d.wrongType(v, f.wants, fault.hint)
	} else {
		d.failValue(v, fault)
	}
	return none, false
}

// whole takes decimal numbers. Other notations of YAML 1.1 and 1.2 (0o17, 017, 0x1f, 1_000, 1e3) are
// refused: readers of YAML disagree about them.
func whole(low, high int) form[int] {
	return form[int]{
		wants: "a whole number",
		bound: fmt.Sprintf("%d to %d", low, high),
		takes: asPlain,
		parse: func(text string) (int, *fault) {
			digits := strings.TrimPrefix(text, "-")
			if !onlyDigits(digits) || len(digits) > 1 && digits[0] == '0' {
				f := &fault{code: codeWrongType}
				if digits != "" && digits[0] >= '0' && digits[0] <= '9' {
					f.hint = "write it in plain decimal digits"
				}
				return 0, f
			}
			// Digits alone fail only by being too many.
			n, err := strconv.Atoi(text)
			if err != nil || n < low || n > high {
				return 0, outOfRange(strconv.Itoa(low), strconv.Itoa(high))
			}
			return n, nil
		},
	}
}

// fraction takes decimal numbers with or without a point.
func fraction(low, high float64) form[float64] {
	return form[float64]{
		wants: "a number",
		bound: fmt.Sprintf("%g to %g", low, high),
		takes: asPlain,
		parse: func(text string) (float64, *fault) {
			before, after, point := strings.Cut(strings.TrimPrefix(text, "-"), ".")
			if !onlyDigits(before) || point && !onlyDigits(after) {
				return 0, &fault{code: codeWrongType, hint: "write it like 0.2"}
			}
			x, err := strconv.ParseFloat(text, 64)
			if err != nil || x < low || x > high {
				return 0, outOfRange(fmt.Sprintf("%g", low), fmt.Sprintf("%g", high))
			}
			// -0 would print as such.
			return x + 0, nil
		},
	}
}

// truth takes true and false as YAML 1.2 has them, and neither yes nor on.
func truth() form[bool] {
	return form[bool]{
		wants: "true or false",
		takes: asPlain,
		parse: func(text string) (bool, *fault) {
			switch text {
			case "true", "True", "TRUE":
				return true, nil
			case "false", "False", "FALSE":
				return false, nil
			}
			f := &fault{code: codeWrongType}
			switch strings.ToLower(text) {
			case "yes", "y", "on", "1":
				f.hint = "write true"
			case "no", "n", "off", "0":
				f.hint = "write false"
			}
			return false, f
		},
	}
}

// option is a text and what it stands for.
type option[T any] struct {
	text string
	is   T
}

// choice takes one of a few texts.
func choice[T any](options ...option[T]) form[T] {
	texts := make([]string, len(options))
	for i, o := range options {
		texts[i] = o.text
	}
	return form[T]{
		wants: "a text",
		bound: strings.Join(texts, ", "),
		parse: func(text string) (T, *fault) {
			for _, o := range options {
				if o.text == text {
					return o.is, nil
				}
			}
			var none T
			f := &fault{code: codeInvalidChoice, message: fmt.Sprintf("must be %s, found %q",
				alternatives(texts), shorten(text))}
			if near := nearest(text, texts); near != "" {
				f.hint = fmt.Sprintf("did you mean %s?", near)
			}
			return none, f
		},
	}
}

// texts are options that stand for themselves.
func texts[T ~string](of ...T) []option[T] {
	options := make([]option[T], len(of))
	for i, t := range of {
		options[i] = option[T]{string(t), t}
	}
	return options
}

// alternatives is "a", "a or b", "a, b or c".
func alternatives(texts []string) string {
	last := len(texts) - 1
	if last == 0 {
		return texts[0]
	}
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

func outOfRange(low, high string) *fault {
	return &fault{code: codeOutOfRange, message: "must be between " + low + " and " + high}
}

func onlyDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
