package servertest

import (
	"encoding/json"
	"strings"
)

// Audit is the audit log so far, a map a line.
func (d *Daemon) Audit() []map[string]any {
	d.t.Helper()
	var all []map[string]any
	for line := range strings.Lines(d.audit.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			d.t.Fatalf("audit log: not a line of JSON: %q", line)
		}
		all = append(all, m)
	}
	return all
}

// HangUp reloads as on SIGHUP.
func (d *Daemon) HangUp() error {
	_, err := d.server.ReloadOnSignal("SIGHUP")
	return err
}
