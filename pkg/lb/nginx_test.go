package lb_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/lb"
)

// TestNginxSequences holds round robin against what a real nginx did (testdata/nginx/record.sh).
func TestNginxSequences(t *testing.T) {
	text, err := os.ReadFile("testdata/nginx/sequences.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	if len(lines) < 20 || len(lines)%2 != 0 {
		t.Fatalf("%d lines", len(lines))
	}
	for ; len(lines) > 0; lines = lines[2:] {
		t.Run(lines[0], func(t *testing.T) {
			var members []lb.Member
			for i, w := range strings.Fields(lines[0]) {
				weight, err := strconv.Atoi(w)
				if err != nil {
					t.Fatal(err)
				}
				members = append(members, lb.Member{Address: string(rune('a'+i)) + ":80", Weight: weight})
			}
			now := time.Unix(0, 0)
			p, err := lb.NewPool(lb.Options{Name: "p", Settings: lb.DefaultSettings(), Members: members, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Fields(lines[1])
			got := make([]string, 0, len(want))
			for range want {
				l, _ := p.Pick(now, lb.Key{}, nil)
				got = append(got, strings.TrimSuffix(l.Address(), ":80"))
				l.Done(now, lb.Success())
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("nginx took another order (-nginx +ours):\n%s", diff)
			}
		})
	}
}
