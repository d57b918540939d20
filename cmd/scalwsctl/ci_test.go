package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// repository is its root, seen from this folder.
const repository = "../.."

const (
	goodConfig    = "server: {listeners: [{name: http, address: \"127.0.0.1:8080\"}]}\n"
	warningConfig = goodConfig + "upstreams: {api: {}}\n"
	brokenConfig  = goodConfig + "upstream: {}\n"
)

// readYAML reads a file of the repository into a value.
func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// checkout is a folder with a configuration in deploy/.
func checkout(t *testing.T, config string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "deploy"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "deploy", "scalws.yaml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

// runShell runs a line as a CI system does, and returns its exit code and its output.
func runShell(t *testing.T, folder, line string) (code int, output string) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", line)
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestWorkflowForGitHub runs the steps of the example that run our program, and looks at what the others use.
func TestWorkflowForGitHub(t *testing.T) {
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses, Run string
				With      map[string]string
			}
		}
	}
	readYAML(t, "examples/ci/github.yaml", &workflow)
	steps := workflow.Jobs["configuration"].Steps
	for name, test := range map[string]struct {
		config string
		codes  []int
	}{
		"good":    {goodConfig, []int{0, 0}},
		"warning": {warningConfig, []int{0, 5}},
		"broken":  {brokenConfig, []int{0, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := checkout(t, test.config)
			var codes []int
			for _, step := range steps {
				if strings.HasPrefix(step.Run, "scalwsctl ") {
					code, out := runShell(t, folder, step.Run)
					codes = append(codes, code)
					if code != 0 && !strings.Contains(out, "file=deploy/scalws.yaml,line=2,") {
						t.Errorf("no annotation:\n%s", out)
					}
				}
				if file := step.With["sarif_file"]; file != "" {
					text, err := os.ReadFile(filepath.Join(folder, file))
					if err != nil || !json.Valid(text) {
						t.Errorf("the uploaded file is no log: %v\n%s", err, text)
					}
				}
			}
			if len(codes) != 2 || codes[0] != test.codes[0] || codes[1] != test.codes[1] {
				t.Errorf("exit codes %v, want %v", codes, test.codes)
			}
		})
	}
}

// TestJobForGitLab does the same for the other example.
func TestJobForGitLab(t *testing.T) {
	var jobs map[string]struct {
		Script      []string
		AfterScript []string `yaml:"after_script"`
		Artifacts   struct{ Paths []string }
	}
	readYAML(t, "examples/ci/gitlab.yaml", &jobs)
	job := jobs["scalws-configuration"]
	for config, want := range map[string]int{goodConfig: 0, warningConfig: 5, brokenConfig: 5} {
		folder := checkout(t, config)
		if code, out := runShell(t, folder, strings.Join(job.Script, "\n")); code != want || len(job.Script) == 0 {
			t.Errorf("exit code %d, want %d:\n%s", code, want, out)
		}
		runShell(t, folder, strings.Join(job.AfterScript, "\n")) // its exit code does not count there
		for _, file := range job.Artifacts.Paths {
			text, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil || !json.Valid(text) {
				t.Errorf("the artifact %s is no document: %v\n%s", file, err, text)
			}
		}
	}
}

func TestPlainScript(t *testing.T) {
	script, err := filepath.Abs(filepath.Join(repository, "examples/ci/check.sh"))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		config, args string
		code         int
		says         string
	}{
		"good":      {goodConfig, "", 0, ""},
		"warning":   {warningConfig, "", 0, "there are warnings in deploy\n"},
		"broken":    {brokenConfig, "", 1, "unknown key"},
		"no folder": {goodConfig, " --bogus", 2, "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out := runShell(t, checkout(t, test.config), "sh "+script+test.args)
			if code != test.code || !strings.Contains(out, test.says) {
				t.Errorf("exit code %d, want %d:\n%s", code, test.code, out)
			}
		})
	}
}

// TestPreCommitHook runs the hook as pre-commit does: the entry, with the names of the changed files behind it.
func TestPreCommitHook(t *testing.T) {
	var hooks []struct{ ID, Name, Entry, Language, Files string }
	readYAML(t, ".pre-commit-hooks.yaml", &hooks)
	if len(hooks) != 1 || hooks[0].ID != "scalws-config-validate" || hooks[0].Language != "golang" || hooks[0].Name == "" {
		t.Fatalf("hooks %+v", hooks)
	}
	for config, want := range map[string]int{goodConfig: 0, warningConfig: 0, brokenConfig: 5} {
		if code, out := runShell(t, checkout(t, config), hooks[0].Entry+" deploy/scalws.yaml"); code != want {
			t.Errorf("exit code %d, want %d:\n%s", code, want, out)
		}
	}
}
