package certs

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSettling holds when a file that looks the same is not read again, which is what makes looking cheap.
func TestSettling(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.pem")
	if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{file}
	for name, tc := range map[string]struct {
		later time.Duration
		want  bool
	}{
		"right after the change": {0, true},
		"within the tick":        {settleTime - time.Second, true},
		"settled":                {settleTime + time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Now().Add(tc.later)
			r, err := readAll(names, now)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := r.touched(names, now.Add(time.Hour)); got != tc.want || err != nil {
				t.Errorf("touched %v, error %v; want %v", got, err, tc.want)
			}
		})
	}
}

// BenchmarkTouched is what Refresh costs while nothing changes.
func BenchmarkTouched(b *testing.B) {
	file := filepath.Join(b.TempDir(), "a.pem")
	if err := os.WriteFile(file, []byte("a"), 0o600); err != nil {
		b.Fatal(err)
	}
	names := []string{file, file, file, file}
	now := time.Now().Add(settleTime + time.Second)
	r, err := readAll(names, now)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if touched, err := r.touched(names, now); touched || err != nil {
			b.Fatalf("touched %v, error %v", touched, err)
		}
	}
}
