package repotest

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var makeTarget = regexp.MustCompile(`(?m)^([a-zA-Z0-9_-]+):(?:[^=\n].*|)$`)

// TestMakeHelp: make alone prints what there is, and every target says what it does.
func TestMakeHelp(t *testing.T) {
	makefile := read(t, "Makefile")
	var targets []string
	for _, found := range makeTarget.FindAllStringSubmatch(makefile, -1) {
		targets = append(targets, found[1])
		if !strings.Contains(found[0], " ## ") {
			t.Errorf("%s has no description: write it behind ## on its line", found[1])
		}
		if !regexp.MustCompile(`(?m)^\.PHONY:.* ` + found[1] + `( |$)`).MatchString(makefile) {
			t.Errorf("%s is not in .PHONY: a file of that name would hide it", found[1])
		}
	}
	if len(targets) < 5 {
		t.Fatalf("only the targets %v were found", targets)
	}
	if _, err := exec.LookPath("make"); err != nil {
		return // the text was checked; go test must not need make
	}
	command := exec.Command("make", "--no-print-directory", "-s")
	command.Dir = rootDir(t)
	help, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("make: %v\n%s", err, help)
	}
	for _, target := range targets {
		if !regexp.MustCompile(`(?m)^\s*` + target + `\s+\S`).Match(help) {
			t.Errorf("make does not print %s:\n%s", target, help)
		}
	}
}
