package strict

import (
	"fmt"
	"strings"
)

// schemaDialect is the JSON Schema that [Document] is written in (draft 2020-12).
const schemaDialect = "https://json-schema.org/draft/2020-12/schema"

// Document is the JSON Schema of a text whose root has the fields and keeps to the rules. Editors read it, to
// complete keys and to mark slips. It is made from the tables that the decoder reads by. It refuses no text
// that the decoder takes, but takes some that the decoder refuses: a schema cannot compare two values, nor
// tell how long a duration is.
func Document(title string, fields []Field, rules ...Shown) Shown {
	return append(Shown{{"$schema", schemaDialect}, {"title", title}}, Section(fields).Also(rules...).Schema()...)
}

// sectionSchema is the schema of a mapping that has no other keys than the fields.
func sectionSchema(fields []Field) Shown {
	properties := make(Shown, 0, len(fields))
	var required []any
	for _, f := range fields {
		if f.Kind.Schema == nil {
			continue
		}
		properties = append(properties, Entry{f.Name, f.schema()})
		if f.Need {
			required = append(required, f.Name)
		}
	}
	s := Shown{{"type", "object"}, {"additionalProperties", false}, {"properties", properties}}
	if required != nil {
		s = append(s, Entry{"required", required})
	}
	return s
}

// schema is that of the value, with what the manual says of the key.
func (f Field) schema() Shown {
	s := Shown{{"description", f.description()}}
	if f.Def != "" {
		s = append(s, Entry{"default", f.shownDefault()})
	}
	return append(s, f.Kind.Schema()...)
}

// shownDefault is the default as a value of the file: a number and not its digits.
func (f Field) shownDefault() any {
	f.preset()
	if f.Kind.Show != nil {
		if v, ok := f.Kind.Show(); ok {
			return v
		}
	}
	return f.Def
}

// description is what an editor shows beside a key.
func (f Field) description() string {
	text := f.Meaning
	if f.Kind.Bound != "" {
		text += fmt.Sprintf(" %s%s: %s.", strings.ToUpper(f.Kind.Wants[:1]), f.Kind.Wants[1:], f.Kind.Bound)
	}
	if f.Otherwise != "" {
		text += fmt.Sprintf(" Without it: %s.", f.Otherwise)
	}
	return text
}

// Also adds rules about several keys of a section to its schema. What decides is the check that holds the
// values against each other, in better words; a rule tells editors as much of it as a schema can say.
func (k Kind) Also(rules ...Shown) Kind {
	schema := k.Schema
	k.Schema = func() Shown {
		s := schema()
		if len(rules) > 0 {
			s = append(s, Entry{"allOf", rules})
		}
		return s
	}
	return k
}

// Requires is the rule that a section has all of the keys.
func Requires(keys ...string) Shown { return Shown{{"required", keys}} }

// OneOf is the rule that exactly one of the schemas holds, AnyOf that one at least does.
func OneOf(of ...Shown) Shown { return Shown{{"oneOf", of}} }

// AnyOf is described with [OneOf].
func AnyOf(of ...Shown) Shown { return Shown{{"anyOf", of}} }

// Not is the rule that a schema does not hold.
func Not(s Shown) Shown { return Shown{{"not", s}} }

// When is the rule that where one schema holds, another one does too.
func When(s, then Shown) Shown { return Shown{{"if", s}, {"then", then}} }

// Together is the rule that a section has both keys or neither.
func Together(a, b string) Shown {
	return Shown{{"dependentRequired", Shown{{a, []string{b}}, {b, []string{a}}}}}
}

// Has is the schema of a section in which the key was given and fits.
func Has(key string, s Shown) Shown {
	return Shown{{"required", []string{key}}, {"properties", Shown{{key, s}}}}
}

// Fits is the schema of a section in which the key fits if it was given.
func Fits(key string, s Shown) Shown { return Shown{{"properties", Shown{{key, s}}}} }

// Const is the schema of one value.
func Const(v any) Shown { return Shown{{"const", v}} }

// Pattern is the schema of a text that fits a regular expression: one that Go and JavaScript read alike.
func Pattern(expression string) Shown { return Shown{{"type", "string"}, {"pattern", expression}} }

// schema is that of the scalars that the form takes.
func (f Form[T]) schema() Shown {
	if f.Schema != nil {
		return f.Schema
	}
	return Shown{{"type", "string"}}
}

// numberOr is the schema of what can be written as a number or as a text. Readers of YAML take digits alone
// for a number, quotes make a text of them.
func numberOr(number Shown, expression string) Shown {
	text := append(Pattern(expression), Entry{"minLength", 1})
	if number == nil {
		return text
	}
	return AnyOf(number, text)
}

func integers(low, high int64) Shown {
	return Shown{{"type", "integer"}, {"minimum", low}, {"maximum", high}}
}

// durationExpression takes what durations are written like, a text that is empty too.
func durationExpression(fine bool) string {
	number := "[0-9]+"
	if fine {
		number = `([0-9]+(\.[0-9]*)?)`
	}
	var b strings.Builder
	for _, u := range durationUnits(fine) {
		fmt.Fprintf(&b, "(%s%s)?", number, u.name)
	}
	return b.String()
}

// sizeExpression takes what sizes are written like.
func sizeExpression() string {
	var names []string
	for _, u := range sizeUnits() {
		names = append(names, u.name)
	}
	return "^[0-9]+(" + strings.Join(names, "|") + ")?$"
}
