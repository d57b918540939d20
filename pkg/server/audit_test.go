package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
)

// Each change is one line, done or refused, whoever asks for it on whatever way.
func TestAudit(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{})
	set(t, d, "p", "192.0.2.1:80")
	set(t, d, "p", "192.0.2.1:80")
	if _, err := d.Admin.SetMembers(t.Context(), "none", nil); status(err) != 404 {
		t.Error(err)
	}
	d.Reload()
	d.Write("server: {")
	d.Refused()
	if _, err := d.Admin.Plan(t.Context(), []byte("server: {")); status(err) != 400 {
		t.Error(err)
	}
	var got []string
	for _, line := range d.Audit() {
		who := line["who"].(map[string]any)
		if int(who["uid"].(float64)) != os.Getuid() || int(who["pid"].(float64)) != os.Getpid() || line["from"] != "socket" {
			t.Errorf("%v is not from us", line)
		}
		got = append(got, line["what"].(string)+" "+line["pool"].(string)+" "+line["result"].(string))
	}
	want := []string{"set_members p done", "set_members p unchanged", "set_members none refused", "reload  done", "reload  refused"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The file is opened again after it was moved away, and changes its place by a reload.
func TestAuditLogMoves(t *testing.T) {
	first := filepath.Join(t.TempDir(), "first.log")
	setup := servertest.Setup{Admin: []string{"audit_log: " + first}}
	d := servertest.Start(t, setup)
	set(t, d, "p", "192.0.2.1:80")
	if err := os.Rename(first, first+".1"); err != nil {
		t.Fatal(err)
	}
	if err := d.Reopen(); err != nil {
		t.Fatal(err)
	}
	set(t, d, "p", "192.0.2.2:80")
	lines := func(file string) int {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "\n")
	}
	if a, b := lines(first+".1"), lines(first); a != 1 || b != 1 {
		t.Errorf("%d lines in the old file, %d in the new one", a, b)
	}
	second := filepath.Join(t.TempDir(), "second.log")
	d.Write(strings.Replace(d.Text(setup), first, second, 1))
	d.Reload()
	set(t, d, "p", "192.0.2.3:80")
	if a, b := lines(first), lines(second); a != 1 || b != 2 { // the reload is in the new one
		t.Errorf("%d lines in the first file, %d in the second", a, b)
	}
	d.Write(strings.Replace(d.Text(setup), first, filepath.Dir(second), 1))
	if p := d.Refused(); !strings.Contains(p.Detail, "opening the audit log") {
		t.Errorf("a folder as the audit log: %+v", p)
	}
	set(t, d, "p", "192.0.2.4:80")
	if n := lines(second); n != 4 || d.Metric("scalws_audit_log_failed_total") != "0" {
		t.Errorf("after the refused reload: %d lines", n)
	}
}

// A reload by signal is a change like any other.
func TestAuditOfASignal(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{})
	if err := d.HangUp(); err != nil {
		t.Fatal(err)
	}
	d.Write("server: {")
	if err := d.HangUp(); err == nil {
		t.Error("a broken file is no error")
	}
	var got []string
	for _, line := range d.Audit() {
		got = append(got, fmt.Sprintf("%v %v %v %v", line["what"], line["who"], line["from"], line["result"]))
	}
	if diff := cmp.Diff([]string{"reload map[signal:SIGHUP] - done", "reload map[signal:SIGHUP] - refused"}, got); diff != "" {
		t.Error(diff)
	}
}
