package accesslog

// appendText appends a value whose bytes may be anything.
func appendText[T string | []byte](b []byte, f format, value T) []byte {
	if len(value) == 0 {
		return append(b, '-')
	}
	if f.json {
		if plain(value, ' ') {
			return append(b, value...)
		}
		return appendEscaped(b, value, `\u00`, true)
	}
	if plain(value, '!') {
		return append(b, value...)
	}
	b = append(b, '"')
	if f.spaces && plain(value, ' ') {
		b = append(b, value...) // as most user agents are
	} else {
		b = appendEscaped(b, value, `\x`, f.spaces)
	}
	return append(b, '"')
}

// each times a byte is a word with that byte eight times.
const each = 0x0101010101010101

// plain tells whether all bytes of a value are printable ASCII, not below lowest, and none is a quote or a
// backslash. It looks at eight bytes at a time: nearly all values are plain, and finding that out byte by
// byte would be most of what a line costs.
func plain[T string | []byte](value T, lowest byte) bool {
	if len(value) < 8 {
		w := uint64(0)
		for i := 0; i < len(value); i++ {
			w = w<<8 | uint64(value[i])
		}
		return plainWord(w|each*'a'<<(8*len(value)), lowest)
	}
	i := 0
	for ; i < len(value)-8; i += 8 {
		if !plainWord(word(value[i:i+8]), lowest) {
			return false
		}
	}
	return plainWord(word(value[len(value)-8:]), lowest)
}

// word is eight bytes, in one load.
func word[T string | []byte](v T) uint64 {
	_ = v[7]
	return uint64(v[0]) | uint64(v[1])<<8 | uint64(v[2])<<16 | uint64(v[3])<<24 |
		uint64(v[4])<<32 | uint64(v[5])<<40 | uint64(v[6])<<48 | uint64(v[7])<<56
}

// plainWord is plain for eight bytes. The top bit of a byte shows one that is not: it is set in those from
// 0x80 on, by an addition in 0x7f, and by the borrow of a subtraction in those that are too small. A carry or
// a borrow from a neighbour may set one as well, but the neighbour is not plain then.
func plainWord(w uint64, lowest byte) bool {
	low := (w - each*uint64(lowest)) &^ w
	quote, back := w^each*'"', w^each*'\\'
	equal := (quote-each)&^quote | (back-each)&^back
	return (w|(w+each)|low|equal)&(each*0x80) == 0
}

// appendEscaped appends value as it stands between quotes. A byte that is neither printable ASCII nor
// easily escaped becomes prefix and two hex digits.
func appendEscaped[T string | []byte](b []byte, value T, prefix string, keepSpaces bool) []byte {
	const hex = "0123456789abcdef"
	start := 0
	for i := 0; i < len(value); i++ {
		c := value[i]
		if c > ' ' && c < 0x7f && c != '"' && c != '\\' || c == ' ' && keepSpaces {
			continue
		}
		b = append(b, value[start:i]...)
		start = i + 1
		if c == '"' || c == '\\' {
			b = append(b, '\\', c)
			continue
		}
		b = append(b, prefix...)
		b = append(b, hex[c>>4], hex[c&15])
	}
	return append(b, value[start:]...)
}
