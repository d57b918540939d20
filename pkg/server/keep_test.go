package server_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// kept is a setup with a state file and these pools.
func kept(file, pools string) servertest.Setup {
	return servertest.Setup{Admin: []string{"state_file: " + file}, Rest: "upstreams: {" + pools + "}\n"}
}

func stateFile(t *testing.T) string { return filepath.Join(t.TempDir(), "state.json") }

// members are the addresses of a pool's members in one line.
func members(t *testing.T, d *servertest.Daemon, pool string) string {
	t.Helper()
	u, err := d.Admin.Upstream(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range u.Members {
		all = append(all, m.Address)
	}
	return strings.Join(all, " ")
}

func set(t *testing.T, d *servertest.Daemon, pool string, addresses ...string) api.Upstream {
	t.Helper()
	var list []api.SetMember
	for _, a := range addresses {
		list = append(list, api.SetMember{Address: a})
	}
	u, err := d.Admin.SetMembers(t.Context(), pool, list)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// savedPools are the pools in a state file, "name revision members" each.
func savedPools(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Schema string
		Pools  []struct {
			Name     string
			Revision uint64
			Members  []struct{ Address string }
		}
	}
	if err := json.Unmarshal(text, &s); err != nil || s.Schema != "scalws.state/1" {
		t.Fatalf("%q: %v", text, err)
	}
	all := []string{}
	for _, p := range s.Pools {
		line := fmt.Sprintf("%s %d", p.Name, p.Revision)
		for _, m := range p.Members {
			line += " " + m.Address
		}
		all = append(all, line)
	}
	return all
}

// Lists that were set at run time, empty ones too, outlive a restart with their revisions, until they are set
// again.
func TestStateOutlivesARestart(t *testing.T) {
	file := stateFile(t)
	setup := kept(file, "api: {members_from: api, members: [{address: \"192.0.2.1:80\"}]}, gone: {members_from: api, members: [{address: \"192.0.2.1:80\"}]}")
	d := servertest.Start(t, setup)
	set(t, d, "api", "192.0.2.5:80")
	before := set(t, d, "api", "192.0.2.5:80", "[2001:db8::1]:80")
	set(t, d, "gone")
	// The answer has come: it is on the disk.
	if diff := cmp.Diff([]string{"api 3 192.0.2.5:80 [2001:db8::1]:80", "gone 2"}, savedPools(t, file)); diff != "" {
		t.Error(diff)
	}
	if before.RestoredFrom != nil {
		t.Errorf("a list that was set is restored from %v", before.RestoredFrom)
	}
	if err := d.Stop(); err != nil {
		t.Fatal(err)
	}

	d = servertest.Start(t, setup)
	after, err := d.Admin.Upstream(t.Context(), "api")
	if err != nil {
		t.Fatal(err)
	}
	if got := members(t, d, "api"); got != "192.0.2.5:80 [2001:db8::1]:80" || after.Revision != before.Revision || after.ETag == before.ETag {
		t.Errorf("after the restart: %s, revision %d, ETag %s", got, after.Revision, after.ETag)
	}
	if got := members(t, d, "gone"); got != "" {
		t.Errorf("the empty list came back as %s", got)
	}
	if after.RestoredFrom == nil || time.Since(*after.RestoredFrom) > time.Minute {
		t.Errorf("restored from %v", after.RestoredFrom)
	}
	if u := set(t, d, "api", "192.0.2.5:80", "[2001:db8::1]:80"); u.RestoredFrom != nil || u.Revision != before.Revision {
		t.Errorf("the same list was set: revision %d, restored from %v", u.Revision, u.RestoredFrom)
	}
}

// What the file says never overrides the configuration: a pool that takes its members from there does so, and a
// list that nobody has set is the one of the configuration of the day.
func TestStateDoesNotOverride(t *testing.T) {
	file := stateFile(t)
	const was = "{members_from: api, members: [{address: \"192.0.2.1:80\"}]}"
	d := servertest.Start(t, kept(file, "a: "+was+", b: "+was+", c: "+was))
	set(t, d, "a", "192.0.2.5:80")
	set(t, d, "c", "192.0.2.5:80")
	d.Stop()

	d = servertest.Start(t, kept(file, `a: {members: [{address: "192.0.2.2:80"}]}, b: {members_from: api, members: [{address: "192.0.2.2:80"}]}`))
	for _, pool := range []string{"a", "b"} {
		if got := members(t, d, pool); got != "192.0.2.2:80" {
			t.Errorf("%s has %s", pool, got)
		}
	}
	if got := savedPools(t, file); len(got) != 0 {
		t.Errorf("the file has %v", got)
	}
}

// A file that cannot be used is a warning, and the daemon starts without it.
func TestStateThatCannotBeUsed(t *testing.T) {
	pools := `api: {members_from: api, members: [{address: "192.0.2.1:80"}]}`
	secure := `api: {members_from: api, scheme: https}`
	state := func(written time.Time, address string) string {
		return fmt.Sprintf(`{"schema": "scalws.state/1", "written": %q, "pools": [{"name": "api", "revision": 4, "members": [{"address": %q, "weight": 1}]}]}`,
			written.UTC().Format(time.RFC3339), address)
	}
	now := time.Now()
	for name, c := range map[string]struct {
		text, pools string
		aside       bool
		log, want   string
	}{
		"damaged":                         {"{", pools, true, "cannot be used and is now ", "192.0.2.1:80"},
		"of a later release":              {`{"schema": "scalws.state/9"}`, pools, true, "scalws.state/9", "192.0.2.1:80"},
		"too old":                         {state(now.Add(-8*24*time.Hour), "192.0.2.5:80"), pools, false, "longer ago than 168h", "192.0.2.1:80"},
		"old, not too old":                {state(now.Add(-6*24*time.Hour), "192.0.2.5:80"), pools, false, "members restored", "192.0.2.5:80"},
		"a member that is none":           {state(now, "http://192.0.2.5"), pools, false, "do not fit", "192.0.2.1:80"},
		"a member that is not for scheme": {state(now, "unix:/run/a.sock"), secure, false, "is a unix socket", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := stateFile(t)
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			d := servertest.Start(t, kept(file, c.pools))
			if got := members(t, d, "api"); got != c.want {
				t.Errorf("members %q, want %q", got, c.want)
			}
			if !strings.Contains(d.LogText(), c.log) {
				t.Errorf("the log does not say %q", c.log)
			}
			if bad, err := os.ReadFile(file + ".bad"); c.aside && (err != nil || string(bad) != c.text) {
				t.Errorf("kept aside: %q, %v", bad, err)
			}
			if text, err := os.ReadFile(file); strings.Contains(c.log, "fit") && (err != nil || string(text) != c.text) {
				t.Errorf("before the first change: %q, %v", text, err)
			}
			set(t, d, "api", "192.0.2.7:80")
			if got := savedPools(t, file); len(got) != 1 || !strings.HasSuffix(got[0], " 192.0.2.7:80") {
				t.Errorf("the file has %v", got)
			}
		})
	}
}

// A change that cannot be kept is made all the same, and whoever looks after the daemon can see it.
func TestStateWriteFails(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "folder")
	file := filepath.Join(folder, "state.json")
	d := servertest.Start(t, kept(file, "api: {members_from: api}"))
	set(t, d, "api", "192.0.2.5:80")
	if got := members(t, d, "api"); got != "192.0.2.5:80" {
		t.Errorf("members %s", got)
	}
	if n := d.Metric("scalws_state_file_failed_total"); n != "2" { // at the start, and now
		t.Errorf("%s failed writes", n)
	}
	if got := strings.Count(d.LogText(), "member lists would not outlive a restart"); got != 1 {
		t.Errorf("said %d times", got)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	set(t, d, "api", "192.0.2.6:80")
	if diff := cmp.Diff([]string{"api 3 192.0.2.6:80"}, savedPools(t, file)); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(d.LogText(), "the state file is written again") {
		t.Error("the log does not say that it works again")
	}
}

// Whoever has an answer has the list in the file, also when many set lists at once.
func TestStateOfManyPools(t *testing.T) {
	file := stateFile(t)
	var pools []string
	for i := range 8 {
		pools = append(pools, fmt.Sprintf("p%d: {members_from: api}", i))
	}
	d := servertest.Start(t, kept(file, strings.Join(pools, ", ")))
	var group sync.WaitGroup
	for i := range pools {
		group.Go(func() {
			name := fmt.Sprintf("p%d", i)
			for n := range 10 {
				address := fmt.Sprintf("192.0.2.%d:%d", i, n+1)
				if _, err := d.Admin.SetMembers(t.Context(), name, []api.SetMember{{Address: address}}); err != nil {
					t.Error(err)
					return
				}
				if got, want := savedPools(t, file), fmt.Sprintf("%s %d %s", name, n+2, address); !strings.Contains(strings.Join(got, "\n"), want) {
					t.Errorf("after the answer the file has no %q: %v", want, got)
				}
			}
		})
	}
	group.Wait()
}

// A reload keeps lists, forgets pools that are gone, and takes another file or none.
func TestStateAndReload(t *testing.T) {
	file, other := stateFile(t), stateFile(t)
	d := servertest.Start(t, kept(file, `a: {members_from: api}, b: {members_from: api}, c: {members: [{address: "192.0.2.3:80"}]}`))
	set(t, d, "a", "192.0.2.1:80")
	set(t, d, "b", "192.0.2.2:80")
	d.Change(kept(file, `a: {members_from: api, retries: 2}, c: {members_from: api}`))
	if diff := cmp.Diff([]string{"a 3 192.0.2.1:80"}, savedPools(t, file)); diff != "" {
		t.Errorf("a rebuilt, b removed, c with the members that it had: %s", diff)
	}
	d.Change(kept(other, `a: {members_from: api, retries: 2}, c: {members_from: api}`))
	set(t, d, "c", "192.0.2.4:80")
	if got := savedPools(t, other); len(got) != 2 || got[0] != "a 3 192.0.2.1:80" {
		t.Errorf("the other file: %v", got)
	}
	if diff := cmp.Diff([]string{"a 3 192.0.2.1:80"}, savedPools(t, file)); diff != "" {
		t.Errorf("the first file: %s", diff)
	}
	d.Change(servertest.Setup{Rest: "upstreams: {a: {members_from: api, retries: 2}}\n"})
	set(t, d, "a", "192.0.2.9:80")
	if got := savedPools(t, other); len(got) != 2 {
		t.Errorf("without a state file: %v", got)
	}
}

// admin.runtime_members: false refuses every list, and a reload changes that.
func TestRuntimeMembersOff(t *testing.T) {
	d := servertest.Start(t, servertest.Setup{Admin: []string{"runtime_members: false"}})
	_, err := d.Admin.SetMembers(t.Context(), "p", nil)
	if status(err) != 501 {
		t.Errorf("got %v", err)
	}
	if _, err := d.Admin.SetMembers(t.Context(), "none", nil); status(err) != 404 {
		t.Errorf("no such pool: %v", err)
	}
	d.Change(servertest.Setup{})
	set(t, d, "p", "192.0.2.1:80")
}
