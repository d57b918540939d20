package ctl

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// page is the documentation that is held against the command tree.
const page = "../../docs/scalwsctl.md"

// commands are all commands of the tree by their path, help topics left out.
func commands() map[string]*cobra.Command {
	root := NewRoot(System{Out: &bytes.Buffer{}, Getenv: env(nil), Now: noon})
	root.InitDefaultHelpCmd()
	all := map[string]*cobra.Command{}
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		if !cmd.IsAdditionalHelpTopicCommand() {
			all[cmd.CommandPath()] = cmd
		}
		for _, c := range cmd.Commands() {
			walk(c)
		}
	}
	walk(root)
	return all
}

// Every command says what it does as an order, shows an example and offers only its own formats.
func TestHelpLines(t *testing.T) {
	line := func(t *testing.T, what, text string) {
		t.Helper()
		if text == "" || !unicode.IsUpper(rune(text[0])) || strings.HasSuffix(text, ".") {
			t.Errorf("%s %q must begin with a capital and have no full stop", what, text)
		}
	}
	for path, cmd := range commands() {
		t.Run(path, func(t *testing.T) {
			line(t, "the short help", cmd.Short)
			if !strings.Contains(cmd.Example, path) && path != "scalwsctl completion" {
				t.Errorf("the example %q does not show the command", cmd.Example)
			}
			for example := range strings.Lines(cmd.Example) {
				if !strings.HasPrefix(example, "  ") {
					t.Errorf("the example %q is not indented", example)
				}
			}
			cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { line(t, "--"+f.Name, f.Usage) })
			cmd.PersistentFlags().VisitAll(func(f *pflag.Flag) { line(t, "--"+f.Name, f.Usage) })
		})
	}
}

// The page has a section for each command and for nothing else.
func TestPageHasTheCommands(t *testing.T) {
	var documented []string
	for heading := range sections(t) {
		documented = append(documented, heading)
	}
	var want []string
	for path := range commands() {
		if path != "scalwsctl" {
			want = append(want, path)
		}
	}
	slices.Sort(documented)
	slices.Sort(want)
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf("sections of %s (-commands +sections):\n%s", page, diff)
	}
}

// The tables of flags hold the flags of their command, and the formats are the command's own.
func TestPageHasTheFlags(t *testing.T) {
	all := commands()
	row := regexp.MustCompile("(?m)^\\| (?:`-[a-z]`, )?`--([a-z-]+)[ `]")
	for heading, text := range sections(t) {
		cmd := all[heading]
		var want []string
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { want = append(want, f.Name) })
		compareFlags(t, heading, want, row.FindAllStringSubmatch(text, -1))

		if formats := formatsOf(cmd); len(formats) > 0 && heading != "scalwsctl upstreams list" {
			if !strings.Contains(strings.Join(strings.Fields(text), " "), "Formats: `"+strings.Join(formats, "`, `")+"`.") {
				t.Errorf("%s: the section does not say its formats %v", heading, formats)
			}
		}
	}

	var global []string
	all["scalwsctl"].PersistentFlags().VisitAll(func(f *pflag.Flag) { global = append(global, f.Name) })
	before, _, _ := strings.Cut(read(t), "\n## Output")
	compareFlags(t, "scalwsctl", global, row.FindAllStringSubmatch(before, -1))
}

func compareFlags(t *testing.T, command string, want []string, rows [][]string) {
	t.Helper()
	var got []string
	for _, r := range rows {
		got = append(got, r[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flags of %s (-command +page):\n%s", command, diff)
	}
}

// The page's table of exit codes is the one of "help exit-codes".
func TestPageHasTheExitCodes(t *testing.T) {
	_, text, _ := strings.Cut(read(t), "\n## Exit codes")
	text, _, _ = strings.Cut(text, "\n## ")
	var got []exitMeaning
	for _, r := range regexp.MustCompile(`(?m)^\| (\d+) \| (.*) \|$`).FindAllStringSubmatch(text, -1) {
		code, err := strconv.Atoi(r[1])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, exitMeaning{code, r[2]})
	}
	if diff := cmp.Diff(exitMeanings(), got, cmp.AllowUnexported(exitMeaning{})); diff != "" {
		t.Errorf("exit codes (-program +page):\n%s", diff)
	}
}

// The examples of the page are what the program prints.
func TestPageShowsRealOutput(t *testing.T) {
	text := read(t)
	for name, output := range map[string]string{"list": listTable, "show": showAPI} {
		if !strings.Contains(text, output) {
			t.Errorf("the page does not show the output of %s", name)
		}
	}
	if !strings.Contains(text, strings.Replace(statusPage, "SOCKET", "/run/scalws/admin.sock", 1)) {
		t.Error("the page does not show the output of status")
	}
	var narrow bytes.Buffer
	s := &session{System: System{Out: &narrow, Getenv: env(nil), Now: noon}}
	columns, rows := memberRows(append(poolColumns(), s.memberColumns()...), fakePools(noon()))
	if err := writeColumns(&narrow, columns, rows, 80); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, narrow.String()) {
		t.Errorf("the page does not show the list at 80 columns:\n%s", narrow.String())
	}
	screen := watched(80, 20).screen()
	if !strings.Contains(text, screen) {
		t.Error("the page does not show the live view")
	}
	for _, v := range variables() {
		if !strings.Contains(text, v.name) {
			t.Errorf("the page does not name %s", v.name)
		}
	}
}

// read is the text of the page.
func read(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sections are the sections of the page about commands, by their headings.
func sections(t *testing.T) map[string]string {
	t.Helper()
	_, text, found := strings.Cut(read(t), "\n## Commands\n")
	if !found {
		t.Fatalf("%s has no section about commands", page)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	all := map[string]string{}
	for i, section := range strings.Split(text, "\n### ") {
		if i > 0 {
			heading, body, _ := strings.Cut(section, "\n")
			all[heading] = body
		}
	}
	return all
}
