package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The tests of this folder run the program as users and their shells do: as it is built, without the race
// detector, in a process of its own.

// TestMain builds scalwsctl into a folder that is the first of PATH.
func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	folder, err := os.MkdirTemp("", "scalwsctl")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	if out, err := exec.Command("go", "build", "-o", folder, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building scalwsctl: %v\n%s", err, out)
		return 1
	}
	os.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH"))
	for _, name := range []string{"SCALWSCTL_SOCKET", "SCALWSCTL_SERVER", "SCALWSCTL_CONTEXT", "SCALWSCTL_OUTPUT"} {
		os.Unsetenv(name)
	}
	return m.Run()
}
