package strict

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// syntaxProblem turns the parser's error into a place and a fault. The parser gives its errors as text
// only, with a line or without, and its line is where the construct began, one too small for errors of
// grammar ("did not find expected key"). For those the place where the parser stopped is better.
func syntaxProblem(text []byte, err error) (line, column int, f *Fault) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.Contains(message, "exceeded max depth") {
		line, column = place(text, stop(text))
		return line, column, tooDeep()
	}
	if name, ok := quotedIn(message, "unknown anchor '"); ok {
		line, column = place(text, max(0, bytes.LastIndex(text[:stop(text)+1], []byte("*"+name))))
		return line, column, &Fault{Code: CodeAnchorOrAlias, Message: "aliases are not accepted: *" + name,
			Hint: "a text that starts with * needs quotes"}
	}

	line = 1
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		number, what, _ := strings.Cut(rest, ": ")
		line, _ = strconv.Atoi(number)
		message = what
		if isGrammar(message) {
			line, _ = place(text, stop(text))
		}
	}
	return atLine(text, line, message)
}

// stop is the offset, give or take a few characters, at which the parser gives up on a text. The parser
// does not tell, but it reads no further than it must, so the text is read again byte by byte.
func stop(text []byte) int {
	source := &byteReader{text: text}
	nodes := yaml.NewDecoder(source)
	for {
		if _, err := nextDocument(nodes); err != nil {
			return max(0, source.read-1)
		}
	}
}

// byteReader hands out a text byte by byte and counts them.
type byteReader struct {
	text []byte
	read int
}

func (r *byteReader) Read(p []byte) (int, error) {
	if r.read == len(r.text) {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	p[0] = r.text[r.read]
	r.read++
	return 1, nil
}

// isGrammar is true for errors that tell of a sequence of tokens, not of the characters of one.
func isGrammar(message string) bool {
	return strings.HasPrefix(message, "did not find expected key") ||
		strings.HasPrefix(message, "did not find expected node content") ||
		strings.HasPrefix(message, "did not find expected ',' or") ||
		strings.HasPrefix(message, "did not find expected '-' indicator") ||
		strings.HasPrefix(message, "did not find expected <document start>")
}

// atLine puts the fault on the first character of the line that is not a space, and guesses at the slip.
func atLine(text []byte, line int, message string) (int, int, *Fault) {
	content := lineAt(text, line)
	for len(bytes.TrimSpace(content)) == 0 && line > 1 {
		line--
		content = lineAt(text, line)
	}
	indent := len(content) - len(bytes.TrimLeft(content, " \t"))
	f := &Fault{Code: CodeInvalidYAML, Message: "not YAML: " + message}
	if tab := bytes.IndexByte(content[:indent], '\t'); tab >= 0 {
		f.Message, f.Hint = "a tab is used for indentation", "indent with spaces"
		return line, tab + 1, f
	}
	switch {
	case message == "found character that cannot start any token":
		f.Hint = "a text that starts with @, `, %, |, > or a tab needs quotes"
	case message == "did not find expected alphabetic or numeric character":
		f.Hint = "a text that starts with * or & needs quotes"
		if i := bytes.IndexAny(content, "*&"); i >= 0 {
			return line, 1 + utf8.RuneCount(content[:i]), f
		}
	case message == "mapping values are not allowed in this context":
		f.Hint = "check the indentation; a text with a colon followed by a space needs quotes"
	case message == "found incompatible YAML document":
		f.Hint = "remove the %YAML line: the file is read the same way without it"
	case message == "found unexpected end of stream":
		f.Hint = "a quote is not closed"
	case strings.HasPrefix(message, "did not find expected ',' or"):
		f.Hint = "a bracket that was opened on this line or before is not closed"
	case strings.HasPrefix(message, "did not find expected node content"):
		f.Hint = "a value is missing or has a bracket too many; a text that starts with [ or { needs quotes"
	case isGrammar(message):
		f.Hint = "check the indentation of this line and of those before it"
	}
	return line, indent + 1, f
}

// quotedIn is the text between prefix and the next single quote.
func quotedIn(message, prefix string) (string, bool) {
	_, rest, ok := strings.Cut(message, prefix)
	if !ok {
		return "", false
	}
	name, _, _ := strings.Cut(rest, "'")
	return name, true
}
