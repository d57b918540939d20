package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/servertest"
	"github.com/scalws/scalws/pkg/api"
)

// Site files come, change and go with reloads. They use pools of the main file, and a broken one refuses the
// whole with its own place.
func TestSiteFiles(t *testing.T) {
	m := named(t, "pool", "single")
	setup := servertest.Setup{Rest: fmt.Sprintf("upstreams:\n  p: {members: [{address: %q}]}\nsites: sites/*.yaml\n"+
		"tenants: [{name: t, applications: [{name: main, domains: [main.example], runtime: {type: proxy, upstream: {pool: p}}}]}]\n", m[0].Address())}
	d := servertest.Start(t, setup)
	dir := filepath.Join(filepath.Dir(d.File), "sites")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if r := get(t, d, "shop.example", "/"); r.Status != 404 {
		t.Errorf("before there is a site: %d", r.Status)
	}
	shop := servertest.Replace(t, filepath.Join(dir, "shop.yaml"), []byte("domains: [shop.example]\nproxy: {upstream: {pool: p}}\n"))
	plan := d.Reload()
	want := []api.ApplicationPlan{{Tenant: "t", Name: "main", Action: "unchanged"}, {Tenant: "sites", Name: "shop", Action: "added"}}
	if diff := cmp.Diff(want, plan.Applications); diff != "" {
		t.Errorf("added (-want +got):\n%s", diff)
	}
	if r := get(t, d, "shop.example", "/"); r.Body != "pool" {
		t.Errorf("the site answers %s%s", r.Head, r.Body)
	}
	before := seen(t, d)
	servertest.Replace(t, shop, []byte("domains: [shop.example]\n\nproxy: {upstream: {pool: q}}\n"))
	p := d.Refused()
	problem := []api.FieldError{{Path: "proxy.upstream.pool", File: shop, Line: 3, Column: 26, Code: "unknown_pool",
		Detail: `there is no pool "q" (did you mean p?)`}}
	if diff := cmp.Diff(problem, p.Errors); diff != "" || !strings.HasPrefix(p.Detail, shop+":3:26: error: ") {
		t.Errorf("%s (-want +got):\n%s", p.Detail, diff)
	}
	if diff := cmp.Diff(before, seen(t, d)); diff != "" {
		t.Errorf("something changed (-before +after):\n%s", diff)
	}
	servertest.Replace(t, shop, fmt.Appendf(nil, "domains: [shop.example]\nproxy: {upstream: {pool: p}}\n"+
		"routes: [{path: /one, runtime: {type: proxy, upstream: \"http://%s\"}}]\n", m[1].Address()))
	plan = d.Reload()
	if diff := cmp.Diff(api.ApplicationPlan{Tenant: "sites", Name: "shop", Action: "changed", Because: []string{"routes"}}, plan.Applications[1]); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if r := get(t, d, "shop.example", "/one/two"); r.Body != "single" {
		t.Errorf("the route answers %s%s", r.Head, r.Body)
	}
	d.Until("the site is in the log", func() bool {
		for _, l := range d.Lines(1) {
			if l["tenant"] == "sites" && l["application"] == "shop" {
				return true
			}
		}
		return false
	})
	if err := os.Remove(shop); err != nil {
		t.Fatal(err)
	}
	if plan = d.Reload(); plan.Applications[1].Action != "removed" || len(plan.Warnings) != 1 {
		t.Errorf("removed: %+v, %+v", plan.Applications, plan.Warnings)
	}
	if r := get(t, d, "shop.example", "/"); r.Status != 404 {
		t.Errorf("after the site: %d", r.Status)
	}
}
