package http1

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// shape is one case of testdata/smuggling: bytes on the wire and what they must be read as. A line
// "|text" stands for the text and a CRLF, a quoted line for just what it says, both with Go's
// escapes. "=> text" is a line of the expected reading, see converse and answer.
type shape struct {
	file, name string
	wire       []byte
	want       []string
}

func readShapes(t testing.TB) []shape {
	t.Helper()
	files, err := filepath.Glob("testdata/smuggling/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var shapes []shape
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range txtar.Parse(text).Files {
			s := shape{file: strings.TrimSuffix(filepath.Base(file), ".txtar"), name: section.Name}
			for line := range strings.Lines(string(section.Data)) {
				s.add(t, strings.TrimSuffix(line, "\n"))
			}
			if len(s.want) == 0 {
				t.Fatalf("%s: %s: no expectation", file, s.name)
			}
			shapes = append(shapes, s)
		}
	}
	return shapes
}

func (s *shape) add(t testing.TB, line string) {
	t.Helper()
	switch {
	case line == "" || line[0] == '#':
		return
	case strings.HasPrefix(line, "=> "):
		s.want = append(s.want, line[3:])
		return
	case line[0] == '|':
		line = `"` + strings.ReplaceAll(line[1:], `"`, `\"`) + `\r\n"`
	}
	text, err := strconv.Unquote(line)
	if err != nil {
		t.Fatalf("%s: %s: line %q: %v", s.file, s.name, line, err)
	}
	s.wire = append(s.wire, text...)
}

// read is the reading of the shape, arriving step bytes at a time (0: at once).
func (s *shape) read(step int) []string {
	switch {
	case strings.HasPrefix(s.name, "HEAD "):
		return answer(s.wire, step, true)
	case strings.HasPrefix(s.file, "response"):
		return answer(s.wire, step, false)
	}
	return converse(s.wire, step)
}

func TestSmuggling(t *testing.T) {
	shapes := readShapes(t)
	if len(shapes) < 60 {
		t.Errorf("%d shapes, want 60 or more", len(shapes))
	}
	for _, s := range shapes {
		t.Run(s.file+"/"+s.name, func(t *testing.T) {
			for _, step := range []int{0, 1, 7} {
				if diff := cmp.Diff(s.want, s.read(step)); diff != "" {
					t.Errorf("in steps of %d (-want +got):\n%s", step, diff)
				}
			}
		})
	}
}
