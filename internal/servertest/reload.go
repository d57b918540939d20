package servertest

import (
	"errors"

	"github.com/scalws/scalws/pkg/api"
)

// Configure writes the configuration file for the next reload.
func (d *Daemon) Configure(s Setup) {
	d.t.Helper()
	d.Write(s.text(d.logFile))
}

// Text is what Configure writes.
func (d *Daemon) Text(s Setup) string { return s.text(d.logFile) }

// Write makes a text the configuration file, in one step.
func (d *Daemon) Write(text string) {
	d.t.Helper()
	Replace(d.t, d.File, []byte(text))
}

// Reload loads the configuration file again and returns what became of everything.
func (d *Daemon) Reload() api.Plan {
	d.t.Helper()
	plan, err := d.Admin.Reload(d.t.Context())
	if err != nil {
		d.t.Fatalf("reload: %v", err)
	}
	return plan
}

// Change is Configure and Reload.
func (d *Daemon) Change(s Setup) api.Plan {
	d.t.Helper()
	d.Configure(s)
	return d.Reload()
}

// Refused is the problem of a reload that must not come to be.
func (d *Daemon) Refused() *api.Problem {
	d.t.Helper()
	_, err := d.Admin.Reload(d.t.Context())
	var problem *api.Problem
	if !errors.As(err, &problem) {
		d.t.Fatalf("the reload was not refused: %v", err)
	}
	return problem
}

// Addr is where a listener listens; empty if there is none of that name.
func (d *Daemon) Addr(name string) string {
	if a := d.server.Addr(name); a != nil {
		return a.String()
	}
	return ""
}

// LogText is the process log so far.
func (d *Daemon) LogText() string { return d.log.String() }

// Reopen opens the log files anew.
func (d *Daemon) Reopen() error { return d.server.Reopen() }
