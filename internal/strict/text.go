package strict

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// checkText looks at the characters of a text before it is parsed, because the parser does not say where
// a bad one stands. offset is that of the fault. The characters that YAML allows are those of YAML 1.2
// section 5.1, less the three that YAML 1.1 takes for line breaks and YAML 1.2 does not: two readers
// would count different lines.
func checkText(text []byte) (offset int, f *Fault) {
	if bytes.HasPrefix(text, []byte{0xfe, 0xff}) || bytes.HasPrefix(text, []byte{0xff, 0xfe}) {
		return 0, &Fault{Code: CodeNotUTF8, Message: "the text is UTF-16", Hint: "save it as UTF-8"}
	}
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		switch {
		case r == utf8.RuneError && size == 1:
			return i, &Fault{Code: CodeNotUTF8, Message: fmt.Sprintf("byte 0x%02x is not UTF-8", text[i]),
				Hint: "save the file as UTF-8"}
		case r < 0x20 && r != '\t' && r != '\n' && r != '\r',
			r >= 0x7f && r < 0xa0,
			r == 0x2028, r == 0x2029, r == 0xfffe, r == 0xffff,
			r == 0xfeff && i > 0:
			return i, &Fault{Code: CodeInvalidYAML, Message: fmt.Sprintf("character U+%04X is not allowed", r),
				Hint: "remove it; in a quoted text it can be written as an escape"}
		}
		i += size
	}
	return 0, nil
}

// withoutMark is the text without a byte-order mark.
func withoutMark(text []byte) []byte {
	return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
}

// place is the line and column of an offset, both from 1, the column in characters. Lines end with \n,
// \r\n or \r.
func place(text []byte, offset int) (line, column int) {
	line, start := 1, 0
	for i := range offset {
		if text[i] == '\n' || text[i] == '\r' && (i+1 >= len(text) || text[i+1] != '\n') {
			line, start = line+1, i+1
		}
	}
	return line, 1 + utf8.RuneCount(text[start:offset])
}

// lineAt is the text of a line without its end, nil behind the last one.
func lineAt(text []byte, line int) []byte {
	for n := 1; ; n++ {
		end := bytes.IndexAny(text, "\r\n")
		if n == line {
			if end < 0 {
				return text
			}
			return text[:end]
		}
		if end < 0 {
			return nil
		}
		if text[end] == '\r' && end+1 < len(text) && text[end+1] == '\n' {
			end++
		}
		text = text[end+1:]
	}
}
