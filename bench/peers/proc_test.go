package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseStat(t *testing.T) {
	const rest = " S 7 10 10 0 -1 4194560 100 200 0 0 11 22 33 44 20 0 1 0 500 1000 200"
	want := process{pid: 10, parent: 7, used: 1100 * time.Millisecond}
	for _, name := range []string{"(nginx)", "(a b)", "(a) S 1 2 (b)"} {
		got, err := parseStat(10, []byte("10 "+name+rest))
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	for _, line := range []string{"", "10 nginx", "10 (nginx) S 7 10", "10 (nginx) S x" + rest[4:]} {
		if got, err := parseStat(10, []byte(line)); err == nil {
			t.Errorf("%q: got %+v", line, got)
		}
	}
}

func TestFamily(t *testing.T) {
	all := []process{{pid: 1}, {pid: 9, parent: 5}, {pid: 5, parent: 3}, {pid: 3, parent: 1}, {pid: 4, parent: 1}, {pid: 2, parent: 3}}
	got, err := family(all, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []process{{pid: 2, parent: 3}, {pid: 3, parent: 1}, {pid: 5, parent: 3}, {pid: 9, parent: 5}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(process{})); diff != "" {
		t.Error(diff)
	}
	if got, err := family(all, 77); err == nil {
		t.Errorf("a process that is not there has the family %v", got)
	}
}

func TestUsedSince(t *testing.T) {
	before := []process{{pid: 3, used: time.Second}, {pid: 4, used: 2 * time.Second}}
	after := []process{{pid: 3, used: 3 * time.Second}, {pid: 4, used: 7 * time.Second}}
	if got, err := usedSince(before, after); err != nil || got != 7*time.Second {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := usedSince(before, []process{{pid: 3}, {pid: 5}}); err == nil {
		t.Errorf("a worker was replaced and nobody noticed: %v", got)
	}
}

func TestParsePeak(t *testing.T) {
	got, err := parsePeak([]byte("Name:\tnginx\nVmPeak:\t  9999 kB\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n"))
	if err != nil || got != 2<<20 {
		t.Errorf("got %d, %v", got, err)
	}
	for _, text := range []string{"", "VmHWM:\t lots kB\n"} {
		if got, err := parsePeak([]byte(text)); err == nil {
			t.Errorf("%q: got %d", text, got)
		}
	}
}
