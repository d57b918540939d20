package strict

import (
	"fmt"
	"strings"
)

// Nearest is the candidate that word is most likely a slip of, or "".
func Nearest(word string, candidates []string) string {
	const longest = 64
	if len(word) > longest {
		return ""
	}
	best, least := "", 1+max(1, len(word)/3)
	for _, c := range candidates {
		if len(c) > longest {
			continue
		}
		if n := distance(strings.ToLower(word), strings.ToLower(c)); n < least {
			best, least = c, n
		}
	}
	return best
}

// Suggest names the nearest candidate, or lists them if they are few.
func Suggest(word string, candidates []string, what string) (hint, near string) {
	if near := Nearest(word, candidates); near != "" {
		return fmt.Sprintf("did you mean %s?", near), near
	}
	const few = 12
	if len(candidates) == 0 || len(candidates) > few {
		return "", ""
	}
	return what + ": " + strings.Join(candidates, ", "), ""
}

// distance is how many insertions, deletions, replacements and swaps of neighbours turn a into b (optimal
// string alignment).
func distance(a, b string) int {
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
