package main

import (
	"strings"
	"testing"
	"time"
)

func TestParseLoad(t *testing.T) {
	tests := []struct {
		name, out string
		want      load
		wrong     string // part of the error
	}{
		{
			name: "clean", out: "Requests/sec:  32\n" + mark + "64000 2000500 110 1010 0 0 0 0 0\n",
			want: load{requests: 64000, took: 2000500 * time.Microsecond, p50: 110 * time.Microsecond, p99: 1010 * time.Microsecond},
		},
		{name: "no counts", out: "Requests/sec:  32\n", wrong: "no counts"},
		{name: "cut off", out: "\n" + mark + "64000 2000500\n", wrong: "reading its counts"},
		{name: "nothing answered", out: "\n" + mark + "0 2000500 0 0 0 0 0 0 0\n", wrong: "no request"},
		{name: "connect", out: "\n" + mark + "9 9 9 9 1 0 0 0 0\n", wrong: "connect 1"},
		{name: "read", out: "\n" + mark + "9 9 9 9 0 1 0 0 0\n", wrong: "read 1"},
		{name: "write", out: "\n" + mark + "9 9 9 9 0 0 1 0 0\n", wrong: "write 1"},
		{name: "timeout", out: "\n" + mark + "9 9 9 9 0 0 0 1 0\n", wrong: "timeout 1"},
		{name: "status", out: "\n" + mark + "9 9 9 9 0 0 0 0 1\n", wrong: "1 answers"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseLoad([]byte(test.out))
			if test.wrong == "" {
				if err != nil || got != test.want {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("error %v, want %q", err, test.wrong)
			}
		})
	}
}

// TestScriptIsStatic: a function that wrk calls for each request or answer would slow the load down.
func TestScriptIsStatic(t *testing.T) {
	for _, s := range scenarios() {
		text := script(s)
		for _, function := range []string{"function request", "function response", "function delay"} {
			if strings.Contains(text, function) {
				t.Errorf("%s: %s", s.name, text)
			}
		}
		if s.post != strings.Contains(text, `"POST"`) || s.closing != strings.Contains(text, `"close"`) {
			t.Errorf("%s: %s", s.name, text)
		}
	}
}
