package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/VictoriaMetrics/metricsql"
	"go.yaml.in/yaml/v3"

	"github.com/scalws/scalws/internal/servertest"
)

const monitoring = "../../examples/monitoring"

// exposed are the names of the series that a running daemon shows, with their labels. Prometheus adds two.
func exposed(t *testing.T) map[string][]string {
	t.Helper()
	m := named(t, "a")
	d := servertest.Start(t, servertest.Setup{Members: addresses(m)})
	d.Get("/")
	sample := regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? \S+$`)
	name := regexp.MustCompile(`([a-z_]+)="`)
	all := map[string][]string{}
	for line := range strings.Lines(d.MetricsText()) {
		if found := sample.FindStringSubmatch(strings.TrimSpace(line)); found != nil {
			labels := []string{"job", "instance"}
			for _, l := range name.FindAllStringSubmatch(found[2], -1) {
				labels = append(labels, l[1])
			}
			all[found[1]] = labels
		}
	}
	return all
}

// checkQuery parses a query and returns the names and the labels that it uses. That there are such is an
// error otherwise; a label has to be one of the metrics of this query.
func checkQuery(series map[string][]string, query string) (names, labels []string, err error) {
	expr, err := metricsql.Parse(query)
	if err != nil {
		return nil, nil, err
	}
	used := []string{}
	metricsql.VisitAll(expr, func(e metricsql.Expr) {
		switch e := e.(type) {
		case *metricsql.MetricExpr:
			for _, filters := range e.LabelFilterss {
				for _, f := range filters {
					if f.Label != "__name__" {
						used = append(used, f.Label)
						continue
					}
					names = append(names, f.Value)
					of, known := series[f.Value]
					if !known {
						err = errors.Join(err, fmt.Errorf("there is no %s", f.Value))
					}
					labels = append(labels, of...)
				}
			}
		case *metricsql.ModifierExpr:
			used = append(used, e.Args...)
		}
	})
	if len(names) == 0 {
		return nil, nil, errors.New("it names no metric")
	}
	for _, l := range used {
		if !slices.Contains(labels, l) {
			err = errors.Join(err, fmt.Errorf("no metric in it has the label %s", l))
		}
	}
	return names, labels, err
}

// rules is a file of rules as Prometheus reads it.
type rules struct {
	Groups []struct {
		Name  string
		Rules []struct {
			Alert, Expr, For    string
			Labels, Annotations map[string]string
		}
	}
}

func TestAlertRules(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(monitoring, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	var file rules
	if err := dec.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if err := dec.Decode(&rules{}); !errors.Is(err, io.EOF) {
		t.Errorf("a second document: %v", err)
	}
	series, seen := exposed(t), map[string]bool{}
	variable := regexp.MustCompile(`\$labels\.(\w+)`)
	for _, group := range file.Groups {
		for _, r := range group.Rules {
			t.Run(r.Alert, func(t *testing.T) {
				if seen[r.Alert] || !strings.HasPrefix(r.Alert, "Scalws") {
					t.Error("not a name of its own")
				}
				seen[r.Alert] = true
				_, labels, err := checkQuery(series, r.Expr)
				if err != nil {
					t.Errorf("%s: %v", r.Expr, err)
				}
				if _, err := time.ParseDuration(r.For); err != nil && r.For != "" {
					t.Error(err)
				}
				if s := r.Labels["severity"]; s != "warning" && s != "critical" {
					t.Errorf("severity %q", s)
				}
				for _, a := range []string{"summary", "description"} {
					if r.Annotations[a] == "" {
						t.Errorf("no %s", a)
					}
					for _, v := range variable.FindAllStringSubmatch(r.Annotations[a], -1) {
						if !slices.Contains(labels, v[1]) {
							t.Errorf("%s: no metric of the rule has the label %s", a, v[1])
						}
					}
				}
			})
		}
	}
	page, err := os.ReadFile("../../docs/logging-metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| `(Scalws\\w+)` \\|").FindAllSubmatch(page, -1) {
		if !seen[string(row[1])] {
			t.Errorf("the page has a rule %s that there is not", row[1])
		}
		delete(seen, string(row[1]))
	}
	for name := range seen {
		t.Errorf("the page does not have %s", name)
	}
}

// dashboard is what is checked of one.
type dashboard struct {
	Title, UID string
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
	Annotations struct {
		List []struct{ Name, Expr, TextFormat string }
	}
	Panels []panel
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Targets                  []struct{ RefID, Expr, LegendFormat string }
}

func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(monitoring, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	series, shown := exposed(t), map[string]bool{}
	variable := regexp.MustCompile(`\{\{(\w+)\}\}`)
	check := func(t *testing.T, query, legend string) {
		t.Helper()
		// What Grafana puts in, in the order in which names contain others.
		query = strings.NewReplacer("$__rate_interval", "1m", "$__range", "1h", "$__interval", "30s", "$pool", "p", "$instance", "i").Replace(query)
		names, labels, err := checkQuery(series, query)
		if err != nil || strings.Contains(query, "$") {
			t.Errorf("%s: %v", query, err)
		}
		for _, n := range names {
			shown[n] = true
		}
		for _, v := range variable.FindAllStringSubmatch(legend, -1) {
			if !slices.Contains(labels, v[1]) {
				t.Errorf("legend %s: no metric of the query has the label %s", legend, v[1])
			}
		}
	}
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		t.Run(p.Title, func(t *testing.T) {
			if p.Title == "" || ids[p.ID] || p.Type != "row" && (p.Description == "" || len(p.Targets) == 0) {
				t.Error("a panel needs a title, an id of its own, a description and a query")
			}
			ids[p.ID] = true
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
						t.Fatalf("lies over %q, or beyond the right edge", other)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
			for _, q := range p.Targets {
				check(t, q.Expr, q.LegendFormat)
			}
		})
	}
	for _, a := range d.Annotations.List {
		check(t, a.Expr, a.TextFormat)
	}
	values := regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`)
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		if found := values.FindStringSubmatch(v.Query); found == nil || !slices.Contains(series[found[1]], found[2]) {
			t.Errorf("variable %s: %s", v.Name, v.Query)
		}
	}
	for name := range series {
		family := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		if strings.HasPrefix(name, "scalws_") && !shown[name] && !shown[family] {
			t.Errorf("%s is on no panel", name)
		}
	}
}

// The checks above find what they look for.
func TestCheckQuery(t *testing.T) {
	series := map[string][]string{"up_total": {"job", "pool"}, "down": {"job"}}
	for _, tt := range []struct {
		name, query string
		good        bool
	}{
		{"good", `sum by (pool) (rate(up_total{job="x"}[5m])) / on (job) group_left () down`, true},
		{"syntax", `sum by (pool (up_total)`, false},
		{"no such metric", `rate(upp_total[5m])`, false},
		{"no such label in a filter", `up_total{member="x"}`, false},
		{"no such label in by", `sum by (member) (up_total)`, false},
		{"no such label in on", `up_total / on (member) down`, false},
		{"no metric", `1 + 1`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := checkQuery(series, tt.query); (err == nil) != tt.good {
				t.Error(err)
			}
		})
	}
}
