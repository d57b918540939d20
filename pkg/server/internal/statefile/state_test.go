package statefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

const day = 24 * time.Hour

// two are lists of two pools, one of them empty.
func two() []Pool {
	return []Pool{
		{Name: "api", Revision: 7, Members: []Member{{Address: "192.0.2.5:8080", Weight: 2}, {Address: "[2001:db8::1]:80", Weight: 1}}},
		{Name: "empty", Revision: 2},
	}
}

const twoText = `{"schema": "scalws.state/1", "written": "2026-11-29T12:00:00Z", "pools": [
 {"name":"api","revision":7,"members":[{"address":"192.0.2.5:8080","weight":2},{"address":"[2001:db8::1]:80","weight":1}]},
 {"name":"empty","revision":2,"members":[]}
]}
`

// clock gives a time that a test moves.
type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

func TestSaveAndRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if got, err := Read(path, noon, day); err != nil || len(got.Pools) > 0 {
		t.Errorf("without a file: %+v, %v", got, err)
	}
	f := Open(path, two, (&clock{noon}).read)
	if err := f.Save(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if diff := cmp.Diff(twoText, string(text)); diff != "" || err != nil {
		t.Errorf("file: %v\n%s", err, diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	want := State{Schema: Schema, Written: noon, Pools: two()}
	want.Pools[1].Members = []Member{}
	got, err := Read(path, noon.Add(day), day)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("read: %v\n%s", err, diff)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left beside it: %v, %v", left, err)
	}
}

func TestReadOld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.WriteFile(path, []byte(twoText), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path, noon.Add(day+time.Second), day)
	var old *OldError
	if !errors.As(err, &old) || old.Written != noon || len(got.Pools) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file is gone: %v", err)
	}
	// A clock that was set back makes no state old.
	if _, err := Read(path, noon.Add(-day), day); err != nil {
		t.Error(err)
	}
}

// A file that is not a state is kept for whoever wants to know, and out of the way.
func TestReadDamaged(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":          {"", "unexpected end"},
		"cut off":        {twoText[:len(twoText)/2], "unexpected"},
		"more behind it": {twoText + "{}", "after"},
		"not JSON":       {"schema: scalws.state/1", "invalid character"},
		"later schema":   {strings.Replace(twoText, "state/1", "state/2", 1), `schema is "scalws.state/2"`},
		"other schema":   {"{}", `schema is ""`},
		"unknown key":    {strings.Replace(twoText, `"pools"`, `"else": 1, "pools"`, 1), "unknown field"},
		"other type":     {strings.Replace(twoText, `"weight":2`, `"weight":"2"`, 1), "cannot unmarshal"},
		"no time":        {`{"schema": "scalws.state/1", "pools": []}`, "the time is missing"},
		"a name twice":   {strings.Replace(twoText, "empty", "api", 1), "given twice"},
		"no name":        {strings.Replace(twoText, "empty", "", 1), "no name"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Read(path, noon, day)
			var damaged *DamagedError
			if !errors.As(err, &damaged) || damaged.Kept != path+".bad" || len(got.Pools) > 0 {
				t.Fatalf("%+v, %v", got, err)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path+".bad") {
				t.Errorf("%v: want %q in it", err, c.want)
			}
			if kept, err := os.ReadFile(path + ".bad"); err != nil || string(kept) != c.text {
				t.Errorf("kept %q, %v", kept, err)
			}
			if got, err := Read(path, noon, day); err != nil || len(got.Pools) > 0 {
				t.Errorf("the next read: %+v, %v", got, err)
			}
		})
	}
}

// What is no regular file is not waited for.
func TestReadFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	var damaged *DamagedError
	if _, err := Read(path, noon, day); !errors.As(err, &damaged) || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}

// A write that fails leaves the state before, and is made up for by the next refresh.
func TestSaveFails(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	c := &clock{noon}
	f := Open(filepath.Join(folder, "state.json"), two, c.read)
	if err := f.Save(); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "writing the state file: ") {
		t.Fatalf("without the folder: %v", err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if wrote, err := f.Refresh(time.Time{}); !wrote || err != nil {
		t.Errorf("with the folder: %v, %v", wrote, err)
	}
	if wrote, err := f.Refresh(noon); wrote || err != nil {
		t.Errorf("once it is written: %v, %v", wrote, err)
	}
	c.now = noon.Add(time.Hour)
	if wrote, err := f.Refresh(noon.Add(time.Second)); !wrote || err != nil {
		t.Errorf("an hour later: %v, %v", wrote, err)
	}
	if got, err := Read(f.path, noon, day); err != nil || !got.Written.Equal(c.now) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A link that lies where the new file is prepared is not followed.
func TestSaveFollowsNoLink(t *testing.T) {
	folder := t.TempDir()
	victim := filepath.Join(folder, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "state.json")
	if err := os.Symlink(victim, path+".tmp"); err != nil {
		t.Fatal(err)
	}
	if err := Open(path, two, (&clock{noon}).read).Save(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "precious" {
		t.Errorf("%q, %v", text, err)
	}
}

// FuzzDecode: any text is a whole state, which is written as it was read, or an error.
func FuzzDecode(f *testing.F) {
	f.Add(twoText)
	f.Add(`{"schema": "scalws.state/1", "written": "2026-11-29T12:00:00+01:00", "pools": null}`)
	f.Add(`{"schema": "scalws.state/2"}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := decode([]byte(text))
		if err != nil {
			return
		}
		again, err := encode(s)
		if err != nil {
			t.Fatalf("%q was read and cannot be written: %v", text, err)
		}
		other, err := decode(again)
		if err != nil {
			t.Fatalf("%q was written as %q: %v", text, again, err)
		}
		if diff := cmp.Diff(normal(s), normal(other)); diff != "" {
			t.Error(diff)
		}
	})
}

// normal is a state without the differences between null and an empty list, and of time zones.
func normal(s State) State {
	s.Written = s.Written.UTC()
	if s.Pools == nil {
		s.Pools = []Pool{}
	}
	for i := range s.Pools {
		if s.Pools[i].Members == nil {
			s.Pools[i].Members = []Member{}
		}
	}
	return s
}
