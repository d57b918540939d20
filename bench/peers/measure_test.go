package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCountLines(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	for text, want := range map[string]int{"": 0, "a\n": 1, "a\nb\nc": 2} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := countLines(file); err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", text, got, err, want)
		}
	}
}
