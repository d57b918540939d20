package chaos

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	const size = 40_000
	whole, err := io.ReadAll(text("a", size))
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[30_001] ^= 1
	broken := errors.New("broken")
	for _, c := range []struct {
		name     string
		r        io.Reader
		n, wrong int64
		err      error
	}{
		{"whole", bytes.NewReader(whole), size, -1, nil},
		{"short", bytes.NewReader(whole[:20_000]), 20_000, -1, nil},
		{"empty", strings.NewReader(""), 0, -1, nil},
		{"one bit", bytes.NewReader(flipped), size, 30_001, nil},
		{"a byte left out", bytes.NewReader(append(bytes.Clone(whole[:9]), whole[10:]...)), size - 1, 9, nil},
		{"a byte more", io.MultiReader(bytes.NewReader(whole), strings.NewReader("x")), size + 1, size, nil},
		{"another body", text("b", size), size, 0, nil},
		{"broken off", io.MultiReader(bytes.NewReader(whole[:7]), failing{broken}), 7, -1, broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, wrong, err := compare(c.r, "a", size)
			if n != c.n || wrong != c.wrong || !errors.Is(err, c.err) {
				t.Errorf("%d bytes, wrong at %d, %v; want %d, %d, %v", n, wrong, err, c.n, c.wrong, c.err)
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestSumTellsLengths(t *testing.T) {
	if a, b := sumOf("x", 10), sumOf("x", 11); a == b {
		t.Errorf("10 and 11 bytes have the same checksum %s", a)
	}
}
