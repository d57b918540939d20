package config

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// FuzzParse holds, for every text: problems have a known code and lie in order inside of the text, a
// Config comes exactly without errors, it keeps what its types promise, and the same text gives the
// same Config.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/broken/*.yaml", "testdata/valid/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			if len(text) < 4096 {
				f.Add(text)
			}
		}
	}
	known := make(map[string]strict.Severity)
	for _, c := range Codes() {
		known[c.Code] = c.Severity
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, problems := Parse("testdata/valid/fuzz.yaml", text)
		checkPlaces(t, text, slices.DeleteFunc(slices.Clone(problems), func(p strict.Problem) bool { return p.File != "testdata/valid/fuzz.yaml" }))
		for _, p := range problems {
			if known[p.Code] != p.Severity || p.Message == "" || p.File == "" {
				t.Errorf("malformed problem: %+v", p)
			}
		}
		if (cfg == nil) != problems.Failed() {
			t.Fatalf("Config is nil: %v, Failed: %v", cfg == nil, problems.Failed())
		}
		again, sameProblems := Parse("testdata/valid/fuzz.yaml", text)
		if diff := cmp.Diff(problems, sameProblems); diff != "" {
			t.Errorf("problems differ the second time:\n%s", diff)
		}
		if cfg == nil {
			return
		}
		if diff := cmp.Diff(cfg, again, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			t.Errorf("the Config differs the second time:\n%s", diff)
		}
		for _, broken := range promises(cfg) {
			t.Error(broken)
		}
		shown, err := json.Marshal(cfg.Show())
		if err != nil {
			t.Fatalf("showing: %v", err)
		}
		// Names of files are as the daemon opens them now, so that nothing stands in front of them.
		if same, problems := Parse("shown.yaml", shown); same == nil {
			t.Errorf("what is shown is refused: %v\n%s", problems, shown)
		} else if diff := cmp.Diff(cfg, same, cmpopts.IgnoreFields(Config{}, "Digest", "Sites"), cmpopts.EquateEmpty(), cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			t.Errorf("what is shown is another configuration:\n%s", diff)
		}
		if plan, err := Compare(cfg, again, nil); err != nil || !plan.Empty() {
			t.Errorf("a configuration differs from itself: %+v, %v", plan, err)
		}
	})
}

// promises lists what is wrong with an accepted Config, by the words of its types.
func promises(c *Config) (broken []string) {
	hold := func(ok bool, format string, args ...any) {
		if !ok {
			broken = append(broken, fmt.Sprintf(format, args...))
		}
	}
	hold(len(c.Server.Listeners) > 0, "no listener")
	hold(c.Server.MaxHeader > 0 && c.Server.MaxHeaders > 0 && c.Server.MaxURI > 0 && c.Server.MaxBody >= 0, "server bounds: %+v", c.Server)
	hold(c.Server.HeaderTimeout > 0 && c.Server.BodyReadTimeout > 0 && c.Server.IdleTimeout > 0, "server timeouts: %+v", c.Server)
	for _, l := range c.Server.Listeners {
		hold(!l.HTTP2 || l.TLS != nil, "listener %q has http2 without tls", l.Name)
		hold(!l.H2C || l.TLS == nil, "listener %q has h2c with tls", l.Name)
		hold(!l.ReusePort || !lb.IsUnix(l.Address), "listener %q shares the port of a unix socket", l.Name)
		hold(l.TLS == nil || len(l.TLS.Certificates) > 0 && l.TLS.MinVersion != "", "tls of listener %q: %+v", l.Name, l.TLS)
	}
	hold(c.Server.Forwarded != "" && c.Server.MaxConnections >= 0, "server: %+v", c.Server)
	for _, p := range c.Server.TrustedProxies {
		hold(p.IsValid() && p == p.Masked() && !p.Addr().Is4In6(), "network %v", p)
	}
	hold(c.Admin.Socket.Mode&0o600 == 0o600 && c.Admin.Socket.Mode&^0o770 == 0, "mode %o", c.Admin.Socket.Mode)
	hold(slices.IsSortedFunc(c.Upstreams, func(a, b Upstream) int { return strings.Compare(a.Name, b.Name) }), "pools are not sorted")

	pools := make(map[string]bool)
	for _, u := range c.Upstreams {
		hold(!pools[u.Name], "pool %q twice", u.Name)
		pools[u.Name] = true
		canonical, problems := lb.CheckMembers(u.Members, u.HTTPS)
		hold(len(problems) == 0 && slices.Equal(canonical, u.Members), "members of %q: %v", u.Name, problems)
		hold(u.HTTPS || u.TLS == UpstreamTLS{}, "pool %q has tls without https", u.Name)
		_, err := lb.NewPool(lb.Options{Name: u.Name, Settings: u.Settings, Members: u.Members, Key: make([]byte, 16)})
		hold(err == nil, "the engine refuses the pool %q: %v", u.Name, err)
	}
	domains := make(map[string]bool)
	runtime := func(r *Runtime) {
		forms := 0
		for _, set := range []bool{r.Address != nil, r.Pool != "", len(r.Backends) > 0, r.Static.Root != "", r.Answer.Status != 0} {
			if set {
				forms++
			}
		}
		hold(forms == 1, "runtime has %d forms: %+v", forms, r)
		hold((r.Type == RuntimeStatic) == (r.Static.Root != "") && (r.Type == RuntimeRedirect) == (r.Answer.To != ""), "runtime of type %s: %+v", r.Type, r)
		hold(r.Pool == "" || pools[r.Pool], "runtime names the pool %q", r.Pool)
		hold(r.TLSCAFile == "" || r.Address != nil && r.Address.HTTPS, "tls_ca_file without an https address")
		if r.Address != nil {
			member, err := lb.ParseAddress(r.Address.Member)
			hold(err == nil && member == r.Address.Member, "address %q: %v", r.Address.Member, err)
		}
		total := 0
		for _, b := range r.Backends {
			total += b.Weight
			hold((b.Pool == "") != (b.Status == 0) && (b.Pool == "" || pools[b.Pool]), "backend %+v", b)
		}
		hold(len(r.Backends) == 0 || total > 0, "backends without weight")
	}
	for _, t := range c.Tenants {
		for _, a := range t.Applications {
			hold(a.Name != "" && len(a.Domains) > 0, "application %q: domains %v", a.Name, a.Domains)
			for _, d := range a.Domains {
				hold(!domains[d], "domain %q twice", d)
				domains[d] = true
			}
			hold(a.Runtime != nil || len(a.Routes) > 0 || a.Redirect != nil, "application %q serves nothing", a.Name)
			if a.Runtime != nil {
				runtime(a.Runtime)
			}
			for i := range a.Routes {
				r := &a.Routes[i]
				forms := strings.Join([]string{r.Path, r.Exact, r.Regex}, "")
				hold(forms != "" && (forms == r.Path || forms == r.Exact || forms == r.Regex), "route %+v", r)
				hold(r.Runtime != nil || r.Redirect != nil, "route %q answers nothing", forms)
				if r.Runtime != nil {
					runtime(r.Runtime)
				}
			}
		}
	}
	return broken
}
