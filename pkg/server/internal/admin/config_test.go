package admin

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/scalws/scalws/pkg/api"
)

// The calls about the configuration pass on what the runtime says, and refuse in the API's words.
func TestConfigurationCalls(t *testing.T) {
	invalid := InvalidConfig("x.yaml:1:2: error: a: is wrong", []api.FieldError{{Path: "a", Detail: "is wrong", File: "x.yaml", Line: 1, Column: 2, Code: "wrong_type"}})
	large := strings.Repeat("x", api.MaxBody+1)
	for name, tc := range map[string]struct {
		method, path, body string
		err                error
		status             int
		want               string
	}{
		"config":              {"GET", api.PathConfig, "", nil, 200, `{"server":{}}`},
		"config fails":        {"GET", api.PathConfig, "", errors.New("no"), 500, `"code":"internal"`},
		"plan":                {"POST", api.PathPlan, "some text", nil, 200, `"settings":["some text"]`},
		"plan of nonsense":    {"POST", api.PathPlan, "a: [", invalid, 400, `"errors":[{"path":"a","detail":"is wrong","file":"x.yaml","line":1,"column":2,"code":"wrong_type"}]`},
		"plan with a query":   {"POST", api.PathPlan + "?dry_run=true", "", nil, 400, `"code":"invalid_query"`},
		"plan too large":      {"POST", api.PathPlan, large, nil, 413, `"code":"body_too_large"`},
		"reload":              {"POST", api.PathReload, "", nil, 200, `"result":"done"`},
		"reload refused":      {"POST", api.PathReload, "", ReloadRefused("in use", nil), 409, `"code":"reload_refused"`},
		"reload with a query": {"POST", api.PathReload + "?x=1", "", nil, 400, `"code":"invalid_query"`},
		"reload by GET":       {"GET", api.PathReload, "", nil, 405, `use POST`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.runtime.err = tc.err
			r := f.do(tc.method, tc.path, tc.body)
			body, err := io.ReadAll(r.Body)
			if err != nil || r.StatusCode != tc.status || !strings.Contains(string(body), tc.want) {
				t.Errorf("got %d %s, want %d with %s", r.StatusCode, body, tc.status, tc.want)
			}
			lines := strings.Count(f.audit.String(), `"what":"reload"`)
			if audited := tc.path == api.PathReload && tc.method == "POST" || strings.HasPrefix(tc.path, api.PathReload+"?"); (lines == 1) != audited {
				t.Errorf("%d audit lines: %s", lines, f.audit.String())
			}
		})
	}
}
