package lb

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	tests := []struct {
		name    string
		weights []int
		skip    string
		want    string
	}{
		{"guide's canary", []int{90, 10}, "", "a a a a a b a a a a"},
		{"three", []int{5, 1, 1}, "", "a a b a c a a"},
		{"zero gets nothing", []int{0, 1, 2}, "", "c b c c b c"},
		{"skipped", []int{5, 1, 1}, "a", "b c b c"},
		{"zero weight is no other", []int{1, 0}, "a", "- -"},
		{"all zero", []int{0, 0}, "", "-"},
		{"nothing", nil, "", "-"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := NewSplit(test.weights)
			var names []string
			for range strings.Fields(test.want) {
				i, ok := s.Next(func(i int) bool { return strings.Contains(test.skip, string(rune('a'+i))) })
				if !ok {
					names = append(names, "-")
					continue
				}
				names = append(names, string(rune('a'+i)))
			}
			if got := strings.Join(names, " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
	if i, ok := NewSplit([]int{0, 3}).Next(nil); !ok || i != 1 {
		t.Errorf("without skip: %d, %v", i, ok)
	}
}

func TestSplitAgainstTheTextbook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 8).Draw(t, "weights")
		s := NewSplit(weights)
		textbook := make([]*modelMember, len(weights))
		for i, w := range weights {
			textbook[i] = &modelMember{weight: w}
		}
		for range 60 {
			skipped := rapid.SliceOfN(rapid.Bool(), len(weights), len(weights)).Draw(t, "skipped")
			var in []*modelMember
			for i, m := range textbook {
				if m.weight > 0 && !skipped[i] {
					in = append(in, m)
				}
			}
			want := slices.Index(textbook, smooth(in))
			if got, ok := s.Next(func(i int) bool { return skipped[i] }); got != want || ok != (want >= 0) {
				t.Fatalf("got %d, %v, want %d", got, ok, want)
			}
		}
	})
}
