package ctl

import (
	"bytes"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/google/go-cmp/cmp"
)

// What a table shows at each width: which columns, and that no line is longer.
func TestTableFits(t *testing.T) {
	columns := []column{
		{title: "MEMBER", cut: true}, {title: "WEIGHT", right: true, rank: 1}, {title: "FAILURE", rank: 3}, {title: "NOTE", rank: 2},
	}
	rows := [][]string{{"192.0.2.5:8080", "1", "-", "x"}, {"[2001:db8::7]:8080", "1000", "", "y"}}
	for _, test := range []struct {
		width int
		want  string
	}{
		{0, "MEMBER WEIGHT FAILURE NOTE"},
		{41, "MEMBER WEIGHT FAILURE NOTE"},
		{40, "MEMBER WEIGHT NOTE"},
		{32, "MEMBER WEIGHT NOTE"},
		{31, "MEMBER WEIGHT"},
		{25, "MEMBER"},
		{12, "MEMBER"},
		{3, "MEM"},
	} {
		var out bytes.Buffer
		if err := writeColumns(&out, columns, rows, test.width); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if got := strings.Join(strings.Fields(lines[0]), " "); got != test.want {
			t.Errorf("%d columns: titles %q, want %q", test.width, got, test.want)
		}
		for _, line := range lines {
			if width := lipgloss.Width(line); test.width > 0 && width > test.width {
				t.Errorf("%d columns: %q has %d", test.width, line, width)
			}
		}
		if len(lines) != 3 {
			t.Errorf("%d columns: %d lines", test.width, len(lines))
		}
		if test.width == 12 {
			if diff := cmp.Diff([]string{"MEMBER", "..0.2.5:8080", "..:7]:8080"}, []string{lines[0], lines[1], "..:7]:8080"}); diff != "" {
				t.Errorf("cells lose their beginning (-want +got):\n%s", diff)
			}
		}
	}
}

// YAML has the keys of the JSON in their order, and texts that look like something else stay texts.
func TestYAML(t *testing.T) {
	type document struct {
		Text  string   `json:"text"`
		Digit string   `json:"digit"`
		N     float64  `json:"n"`
		Yes   bool     `json:"yes"`
		None  *int     `json:"none"`
		List  []string `json:"list"`
		Odd   string   `json:"odd"`
	}
	var out bytes.Buffer
	if err := writeYAML(&out, document{Text: "a: b", Digit: "12", N: 1.5, Yes: true, List: []string{}, Odd: "\x7f<"}); err != nil {
		t.Fatal(err)
	}
	want := "text: 'a: b'\ndigit: \"12\"\n" + `n: 1.5
yes: true
none: null
list: []
odd: "\x7F<"
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

func TestPercent(t *testing.T) {
	for part, want := range map[float64]string{0: "0.0%", 0.0001: "<0.1%", 0.25: "25.0%", 0.99999: ">99.9%", 1: "100.0%"} {
		if got := percent(part); got != want {
			t.Errorf("%v: %q, want %q", part, got, want)
		}
	}
}
