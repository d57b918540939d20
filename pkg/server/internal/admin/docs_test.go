package admin

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/lb"
)

func page(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../../../docs/admin-api.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rows are the first matches of a pattern in each table row of a section.
func rows(t *testing.T, section, pattern string) []string {
	t.Helper()
	_, rest, ok := strings.Cut(page(t), "\n## "+section+"\n")
	if !ok {
		t.Fatalf("no section %s", section)
	}
	text, _, _ := strings.Cut(rest, "\n## ")
	var found []string
	for _, m := range regexp.MustCompile("(?m)^\\| "+pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

func TestDocsListTheRoutes(t *testing.T) {
	var want []string
	for _, r := range (&handler{}).routes() {
		call := r.method + " " + r.path
		for i, p := range r.about.query {
			call += [...]string{"?", "&"}[min(i, 1)] + p.name + "="
		}
		want = append(want, call)
	}
	if diff := cmp.Diff(want, rows(t, "Routes", "`([A-Z]+ /[^`]*)`")); diff != "" {
		t.Error(diff)
	}
}

// jsonNames are the fields of a wire type in order.
func jsonNames(types ...any) []string {
	var names []string
	for _, v := range types {
		for f := range reflect.TypeOf(v).Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			names = append(names, name)
		}
	}
	return names
}

// TestDocsListTheEvents: the page has a table of fields and one of kinds.
func TestDocsListTheEvents(t *testing.T) {
	var names []string
	for _, cell := range rows(t, "Events", "(`[^|]*`) \\|") {
		names = append(names, strings.Split(strings.ReplaceAll(cell, "`", ""), ", ")...)
	}
	want := append(jsonNames(api.Event{}), api.EventEjected, api.EventProbation, api.EventRecovered,
		api.EventAdded, api.EventRemoved, api.EventReweighted,
		api.EventReload, api.EventPoolAdded, api.EventPoolRebuilt, api.EventPoolRemoved, api.EventGap)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
}

// TestDocsListTheRefusals: a row of the table of routes has the statuses that the description has, less those
// that every call may answer with.
func TestDocsListTheRefusals(t *testing.T) {
	cells := rows(t, "Routes", "`[A-Z]+ /.*\\| ([\\d, ]*)\\|")
	for i, r := range (&handler{}).routes() {
		want := map[string]bool{}
		for _, code := range r.about.refusals {
			want[strconv.Itoa(statusOf(code))] = true
		}
		got := map[string]bool{}
		for status := range strings.SplitSeq(strings.TrimSpace(cells[i]), ", ") {
			if status != "" && status != "400" { // every call refuses parameters that it does not know
				got[status] = true
			}
		}
		delete(want, "400")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s %s: %s", r.method, r.path, diff)
		}
	}
}

func TestDocsListTheFields(t *testing.T) {
	tests := []struct {
		section string
		want    []string
	}{
		{"Upstream", jsonNames(api.Upstream{}, api.Member{})},
		{"Plan", jsonNames(api.Plan{}, api.PoolPlan{})},
		{"Status", jsonNames(api.Status{})},
		{"Change", jsonNames(api.Change{})},
		{"Explanation", jsonNames(api.Explanation{})},
		{"Preview", jsonNames(api.Preview{})},
	}
	for _, tt := range tests {
		t.Run(tt.section, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, rows(t, tt.section, "`(\\w+)`")); diff != "" {
				t.Error(diff)
			}
		})
	}
	text := page(t)
	for _, name := range jsonNames(api.Hash{}, api.TLS{}, api.PassiveHealth{}, api.RetryBudget{}, api.Listener{}, api.ConfigInfo{},
		api.RateLimit{}, api.Quota{}, api.ListenerPlan{}, api.ApplicationPlan{}, api.Loses{}, api.ListChange{}, api.Reload{}, api.FieldError{},
		api.Entry{}, api.Reweight{}, api.Share{}, api.PassedOver{}, api.Evidence{}) {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("%s is not on the page", name)
		}
	}
}

func TestDocsListTheCauses(t *testing.T) {
	text := page(t)
	for c := lb.NoCause + 1; c.String() != ""; c++ {
		if !strings.Contains(text, "`"+c.String()+"`") {
			t.Errorf("%s is not on the page", c)
		}
	}
}

// codesInUse are the api.Code constants that this package's code refers to, by value.
func codesInUse(t *testing.T) []string {
	t.Helper()
	values := map[string]string{}
	inspect := func(dir string, see func(ast.Node)) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), dir+"/"+e.Name(), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool { see(n); return true })
		}
	}
	inspect("../../../api", func(n ast.Node) {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Code") {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			values[spec.Names[0].Name] = value
		}
	})
	var codes []string
	inspect(".", func(n ast.Node) {
		if sel, ok := n.(*ast.SelectorExpr); ok && values[sel.Sel.Name] != "" {
			codes = append(codes, values[sel.Sel.Name])
		}
	})
	slices.Sort(codes)
	return slices.Compact(codes)
}

func TestDocsListTheCodes(t *testing.T) {
	documented := rows(t, "Refusals", "\\d+ \\| `(\\w+)`")
	slices.Sort(documented)
	if diff := cmp.Diff(codesInUse(t), documented); diff != "" {
		t.Error(diff)
	}
}

func TestDocsListTheAuditFields(t *testing.T) {
	var documented []string
	for _, cell := range rows(t, "Audit", "(`[^|]*`) \\|") {
		documented = append(documented, strings.Split(strings.ReplaceAll(cell, "`", ""), ", ")...)
	}
	if diff := cmp.Diff(jsonNames(Entry{}), documented); diff != "" {
		t.Error(diff)
	}
}
