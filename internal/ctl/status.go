package ctl

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/scalws/scalws/pkg/api"
)

// statusOptions are "status".
type statusOptions struct {
	*session
}

func newStatus(s *session) *cobra.Command {
	o := statusOptions{session: s}
	return &cobra.Command{
		Use:   "status",
		Short: "Show the daemon: version, listeners, configuration, last reload",
		Example: `  scalwsctl status
  scalwsctl status -o json | jq -r .config.digest`,
		Annotations:       formats(formatTable, formatJSON, formatYAML),
		Args:              countArgs(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
}

func (o *statusOptions) run(ctx context.Context) error {
	daemon, found, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	status, err := daemon.Status(ctx)
	if err != nil {
		return fmt.Errorf("asking for the status: %w", err)
	}
	if o.isDocument() {
		return o.writeDocument(status)
	}
	if found {
		o.chosen.by = "default"
	}
	return o.fieldTable(statusFields(status, o.chosen, o.Now()))
}

// statusFields is the status for people.
func statusFields(status api.Status, daemon target, now time.Time) []field {
	state := "serving"
	if status.Draining {
		state = "draining"
	}
	fields := []field{
		{"State", state},
		{"Version", status.Version},
		{"PID", strconv.Itoa(status.PID)},
		{"Started", since(status.Started, now)},
		{"Boot", status.Boot},
		{"Daemon", daemon.way()},
		{"Chosen by", daemon.by},
		{"Configuration", status.Config.Source},
		{"Loaded", since(status.Config.LoadedAt, now)},
		{"Digest", status.Config.Digest},
	}
	if r := status.LastReload; r != nil {
		fields = append(fields, field{"Last reload", reloadResult(*r) + since(r.Time, now)})
		if r.Error != "" {
			fields = append(fields, field{"Reload error", r.Error})
		}
		for _, p := range r.Problems {
			fields = append(fields, field{"Problem", fieldErrorText(p)})
		}
	}
	for _, l := range status.Listeners {
		fields = append(fields, field{"Listener " + l.Name, l.Address})
	}
	for _, q := range status.Quotas {
		fields = append(fields, field{"Quota " + q.Tenant + "/" + q.Application + q.Path,
			fmt.Sprintf("%d of %d used, until %s", q.Used, q.Limit, timestamp(q.Reset))})
	}
	return fields
}

// reloadResult is how a reload went.
func reloadResult(r api.Reload) string {
	if r.Success {
		return "done at "
	}
	return "refused at "
}

// since is a time and how long ago it was.
func since(t, now time.Time) string {
	return fmt.Sprintf("%s (%s ago)", timestamp(t), max(now.Sub(t), 0).Truncate(time.Second))
}
