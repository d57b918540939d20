package chaos

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
)

// text is the body that belongs to a name: the same name gives the same bytes, so that both ends know what
// has to arrive without having seen what was sent.
func text(name string, size int64) io.Reader {
	return io.LimitReader(rand.NewChaCha8(sha256.Sum256([]byte(name))), size)
}

// question and answer name the two bodies of an exchange.
func question(id string) string { return "question " + id }
func reply(id string) string    { return "reply " + id }

// sum is a checksum with the length beside it: a body that lost its end differs in both.
type sum struct {
	crc  uint32
	size int64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (s *sum) Write(p []byte) (int, error) {
	s.crc = crc32.Update(s.crc, castagnoli, p)
	s.size += int64(len(p))
	return len(p), nil
}

func (s *sum) String() string { return fmt.Sprintf("%08x/%d", s.crc, s.size) }

// sumOf is the checksum of a named body.
func sumOf(name string, size int64) string {
	var s sum
	io.Copy(&s, text(name, size))
	return s.String()
}

// compare reads r to its end and says how many bytes there were, and where the first one lies that is not
// the named body's; negative: nowhere. The error is r's, nil at its orderly end.
func compare(r io.Reader, name string, size int64) (n, wrong int64, err error) {
	want := text(name, size)
	got, expected := make([]byte, 16<<10), make([]byte, 16<<10)
	wrong = -1
	for {
		k, err := r.Read(got)
		e, _ := io.ReadFull(want, expected[:k])
		if wrong < 0 && !bytes.Equal(got[:k], expected[:e]) {
			wrong = n + firstDifference(got[:k], expected[:e])
		}
		n += int64(k)
		switch {
		case err == io.EOF:
			return n, wrong, nil
		case err != nil:
			return n, wrong, err
		}
	}
}

func firstDifference(a, b []byte) int64 {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return int64(i)
		}
	}
	return int64(min(len(a), len(b)))
}
