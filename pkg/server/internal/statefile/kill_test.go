package statefile

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// asWriter makes this test program one that writes states until it is killed; its value is the file.
const asWriter = "SCALWS_TEST_WRITE_STATES"

func TestMain(m *testing.M) {
	if path := os.Getenv(asWriter); path != "" {
		writeForEver(path)
	}
	os.Exit(m.Run())
}

// writeForEver saves one revision after the other, from the one in the file on, and prints each when it is saved.
func writeForEver(path string) {
	s, err := Read(path, time.Now(), time.Hour)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	p := Pool{Name: "api"}
	if len(s.Pools) > 0 {
		p.Revision = s.Pools[0].Revision
	}
	for i := range 200 {
		p.Members = append(p.Members, Member{Address: fmt.Sprintf("192.0.2.1:%d", i+1), Weight: 1})
	}
	f := Open(path, func() []Pool { return []Pool{p} }, time.Now)
	for {
		p.Revision++
		if err := f.Save(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(p.Revision)
	}
}

// A writer that is killed at any moment leaves a whole state, and at least the last one that it has acknowledged.
func TestKilled(t *testing.T) {
	// Side by side, because most of the time is spent waiting for the disk.
	const files, kills = 8, 25
	for n := range files {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state.json")
			chance := rand.New(rand.NewPCG(1, uint64(n)))
			for range kills {
				acknowledged := killed(t, path, 1+chance.IntN(3))
				s, err := Read(path, time.Now(), time.Hour)
				if err != nil || len(s.Pools) != 1 || len(s.Pools[0].Members) != 200 {
					t.Fatalf("after %d: %+v, %v", acknowledged, s, err)
				}
				if got := s.Pools[0].Revision; got < acknowledged || got > acknowledged+1 {
					t.Fatalf("revision %d in the file, %d was acknowledged", got, acknowledged)
				}
			}
		})
	}
}

// killed runs a writer, kills it once it has acknowledged n states, and returns the last one that it did
// acknowledge.
func killed(t *testing.T, path string, n int) (acknowledged uint64) {
	t.Helper()
	writer := exec.Command(os.Args[0])
	writer.Env = append(os.Environ(), asWriter+"="+path)
	out, err := writer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := writer.Start(); err != nil {
		t.Fatal(err)
	}
	defer writer.Wait() // that it was killed is what is expected
	defer writer.Process.Kill()
	lines := bufio.NewScanner(out)
	for seen := 0; lines.Scan(); seen++ {
		if acknowledged, err = strconv.ParseUint(lines.Text(), 10, 64); err != nil {
			t.Fatalf("the writer says %q", lines.Text())
		}
		if seen+1 == n { // what it still says is read to the end
			if err := writer.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return acknowledged
}
