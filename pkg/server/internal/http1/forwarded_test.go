package http1

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// said is what an element says, to compare it by.
func said(e Forwarded) string {
	var b strings.Builder
	for _, p := range []struct {
		name  string
		value []byte
	}{{"for", e.For}, {"by", e.By}, {"host", e.Host}, {"proto", e.Proto}} {
		if p.value != nil {
			fmt.Fprintf(&b, "%s=%s|", p.name, p.value)
		}
	}
	return b.String()
}

// fromRight reads a list up to the first element that is not valid; left to right.
func fromRight(list []byte) (elements []string, whole bool) {
	for {
		e, before, ok := LastForwarded(list)
		if !ok {
			return elements, false
		}
		elements = slices.Insert(elements, 0, said(e))
		if before == nil {
			return elements, true
		}
		list = before
	}
}

func fromLeft(t *testing.T, list []byte) (elements []string) {
	t.Helper()
	for list != nil {
		e, behind, ok := FirstForwarded(list)
		if !ok {
			t.Fatalf("%q is valid from the right only", list)
		}
		elements, list = append(elements, said(e)), behind
	}
	return elements
}

func anew(list []byte) string {
	var out []byte
	for list != nil {
		e, behind, _ := FirstForwarded(list)
		out, list = e.Append(out), behind
		if list != nil {
			out = append(out, ", "...)
		}
	}
	return string(out)
}

func TestForwarded(t *testing.T) {
	for _, c := range []struct {
		list string
		want []string // what can be read, from the left
		anew string   // that written anew
	}{
		{`for=192.0.2.60;proto=http;by=203.0.113.43`, []string{"for=192.0.2.60|by=203.0.113.43|proto=http|"}, `for=192.0.2.60;proto=http;by=203.0.113.43`},
		{`For="[2001:db8:cafe::17]:4711"`, []string{"for=[2001:db8:cafe::17]:4711|"}, `For="[2001:db8:cafe::17]:4711"`},
		{`for=192.0.2.43,FOR=198.51.100.17 	,	 fOr=unknown`, []string{"for=192.0.2.43|", "for=198.51.100.17|", "for=unknown|"}, `for=192.0.2.43, FOR=198.51.100.17, fOr=unknown`},
		{`for="_gazonk"`, []string{"for=_gazonk|"}, `for=_gazonk`},
		{`for=192.0.2.1:80;host=example.com:8080`, []string{"for=192.0.2.1:80|host=example.com:8080|"}, `for="192.0.2.1:80";host="example.com:8080"`},
		{`for=[2001:db8::1]:80`, []string{"for=[2001:db8::1]:80|"}, `for="[2001:db8::1]:80"`},
		{`for="a,b;c\"d\\";ext="\e\,";proto=https`, []string{`for=a,b;c"d\|proto=https|`}, `for="a,b;c\"d\\";ext="e,";proto=https`},
		{`;for=a;;by=b;`, []string{"for=a|by=b|"}, `for=a;by=b`},
		{`for=""`, []string{"for=|"}, `for=""`},
		{`secret=x`, []string{""}, `secret=x`},
		{"for=\"\xff\t \"", []string{"for=\xff\t |"}, "for=\"\xff\t \""},

		// What is not valid ends the list, seen from the right.
		{``, nil, ``},
		{`,`, nil, ``},
		{`;`, nil, ``},
		{`for`, nil, ``},
		{`for=`, nil, ``},
		{`=a`, nil, ``},
		{`for=a b`, nil, ``},
		{`for =a`, nil, ``},
		{`for= a`, nil, ``},
		{`for=a; by=b`, nil, ``},
		{`for=a;For=b`, nil, ``},
		{`for="a`, nil, ``},
		{`for=a"`, nil, ``},
		{`for="a"b`, nil, ``},
		{`for="a\"`, nil, ``},
		{"for=\"\x01\"", nil, ``},
		{"for=\"\\\x7f\"", nil, ``},
		{`for=a, for=b,`, nil, ``},
		{`for=a, , for=b`, []string{"for=b|"}, `for=b`},
		{`for=a, for=b/, for=c;proto=http, for=d`, []string{"for=c|proto=http|", "for=d|"}, `for=c;proto=http, for=d`},
		{`for=evil;x=", for=192.0.2.1`, []string{"for=192.0.2.1|"}, `for=192.0.2.1`},
		{`for="evil\", for="192.0.2.1"`, []string{"for=192.0.2.1|"}, `for=192.0.2.1`},
		{`x=", for=192.0.2.1;host="a:80", for=192.0.2.2`, []string{"for=192.0.2.1|host=a:80|", "for=192.0.2.2|"}, `for=192.0.2.1;host="a:80", for=192.0.2.2`},
	} {
		t.Run(c.list, func(t *testing.T) {
			got, whole := fromRight([]byte(c.list))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			tail, all := ForwardedTail([]byte(c.list))
			if all != whole {
				t.Errorf("whole: %v and %v", all, whole)
			}
			if len(tail) == 0 {
				tail = nil
			}
			if got := anew(tail); got != c.anew {
				t.Errorf("anew: %s, want %s", got, c.anew)
			}
		})
	}
}

// Reading and writing an element without escapes allocates nothing.
func TestForwardedAllocatesNothing(t *testing.T) {
	list := []byte(`for=192.0.2.60;proto=http;by=203.0.113.43, for="[2001:db8:cafe::17]:4711";host="example.com:8080"`)
	out := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		for rest := list; rest != nil; {
			var e Forwarded
			e, rest, _ = LastForwarded(rest)
			out = e.Append(out[:0])
		}
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestIsScheme(t *testing.T) {
	for text, want := range map[string]bool{
		"http": true, "HTTPS": true, "a+b-c.d1": true, "": false, "1a": false, "https,http": false, "ht tp": false, "http:": false, "\xe9": false,
	} {
		if got := IsScheme([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// The grammar of RFC 7239 section 4 and RFC 9110 section 5.6 as regular expressions over Latin-1; bare is what
// may stand without quotes.
func grammar(bare string) (pair, list *regexp.Regexp) {
	const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
	quoted := `"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"`
	p := "(" + token + ")=(?:" + bare + "|" + quoted + ")"
	element := ";*" + p + "(?:;(?:" + p + ")?)*"
	return regexp.MustCompile(p), regexp.MustCompile("^[\t ]*" + element + "(?:[\t ]*,[\t ]*" + element + ")*[\t ]*$")
}

// repeats is true if an element of a list that is valid names one of our parameters twice.
func repeats(pair *regexp.Regexp, list string) bool {
	seen, end := map[string]bool{}, 0
	for _, m := range pair.FindAllStringSubmatchIndex(list, -1) {
		if strings.Contains(list[end:m[0]], ",") {
			clear(seen)
		}
		name := strings.ToLower(list[m[2]:m[3]])
		if seen[name] && slices.Contains([]string{"for", "by", "host", "proto"}, name) {
			return true
		}
		seen[name], end = true, m[1]
	}
	return false
}

// FuzzForwarded holds the reader against the grammar, and what is written anew against the reader. What
// somebody else has put in front of a list takes nothing from it.
func FuzzForwarded(f *testing.F) {
	for _, s := range []string{
		`for=192.0.2.60;proto=http;by=203.0.113.43`, `For="[2001:db8:cafe::17]:4711"`, `for=a,for=b;host="x,\"y;"`, `;a=b;;c="\\";`,
		`for=a, , for=b`, `for=a;FOR=b`, `for="a\", for=b`, "x=\"\xff\t\"", `for=[::1]:80`,
	} {
		f.Add([]byte(`x="`), []byte(s))
	}
	pair, list := grammar("[!#$%&'*+.^_`|~0-9A-Za-z:\\[\\]-]+")
	_, strict := grammar("[!#$%&'*+.^_`|~0-9A-Za-z-]+")
	latin1 := func(b []byte) string {
		r := make([]rune, len(b))
		for i, c := range b {
			r[i] = rune(c)
		}
		return string(r)
	}
	f.Fuzz(func(t *testing.T, front, text []byte) {
		elements, whole := fromRight(text)
		valid := list.MatchString(latin1(text)) && !repeats(pair, latin1(text))
		if whole != valid {
			t.Fatalf("%q: read %v, the grammar says %v", text, whole, valid)
		}
		tail, all := ForwardedTail(text)
		if all != whole || !bytes.HasSuffix(text, tail) {
			t.Fatalf("%q: tail %q, %v", text, tail, all)
		}
		if len(elements) == 0 {
			return
		}
		if diff := cmp.Diff(elements, fromLeft(t, tail)); diff != "" {
			t.Fatalf("%q from the left: %s", tail, diff)
		}
		written := anew(tail)
		if !strict.MatchString(latin1([]byte(written))) {
			t.Fatalf("%q: wrote %q", tail, written)
		}
		if again, whole := fromRight([]byte(written)); !whole || !slices.Equal(elements, again) {
			t.Fatalf("%q is %q, and written anew %q", tail, elements, again)
		}
		behind, _ := fromRight(slices.Concat(front, []byte{','}, tail))
		if n := len(behind) - len(elements); n < 0 || !slices.Equal(behind[n:], elements) {
			t.Fatalf("%q behind %q: %q, alone %q", tail, front, behind, elements)
		}
	})
}
