package route

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/internal/config"
)

func networks(t testing.TB, all ...string) (out []netip.Prefix) {
	t.Helper()
	for _, n := range all {
		out = append(out, netip.MustParsePrefix(n))
	}
	return out
}

func TestAccess(t *testing.T) {
	for _, c := range []struct {
		deny, allow []string
		client      string
		want        bool
	}{
		{[]string{"192.0.2.0/24"}, nil, "192.0.2.1", false},
		{[]string{"192.0.2.0/24"}, nil, "198.51.100.1", true},
		{nil, []string{"192.0.2.0/24"}, "192.0.2.1", true},
		{nil, []string{"192.0.2.0/24"}, "198.51.100.1", false},
		{[]string{"192.0.2.66/32"}, []string{"192.0.2.0/24"}, "192.0.2.66", false},
		{[]string{"192.0.2.66/32"}, []string{"192.0.2.0/24"}, "192.0.2.65", true},
		{nil, []string{"2001:db8::/32"}, "2001:db8::1", true},
		{nil, []string{"::/0"}, "192.0.2.1", false},
		{[]string{"0.0.0.0/0", "::/0"}, nil, "", true}, // over a unix socket
		{nil, []string{"0.0.0.0/0", "::/0"}, "", false},
	} {
		client, _ := netip.ParseAddr(c.client)
		if got := newAccess(networks(t, c.deny...), networks(t, c.allow...)).Admits(client); got != c.want {
			t.Errorf("deny %v, allow %v: %s is %v", c.deny, c.allow, c.client, got)
		}
	}
}

// asked is a request whose clean path is known.
func asked(target string) *Request {
	r := &Request{Path: []byte(target)}
	r.clean()
	return r
}

func TestRewrite(t *testing.T) {
	for name, c := range map[string]struct {
		rewrite config.Rewrite
		target  string
		want    string // empty: unchanged
	}{
		"strip":                   {config.Rewrite{StripPrefix: "/api"}, "/api/x?a=%2F", "/x?a=%2F"},
		"strip all":               {config.Rewrite{StripPrefix: "/api"}, "/api", "/"},
		"strip with query":        {config.Rewrite{StripPrefix: "/api"}, "/api?x", "/?x"},
		"no border":               {config.Rewrite{StripPrefix: "/api"}, "/apis/%7e", ""},
		"strip an encoded one":    {config.Rewrite{StripPrefix: "/api"}, "/%61pi/a%2fb", "/a%2Fb"},
		"strip resolves":          {config.Rewrite{StripPrefix: "/api"}, "/api/../x", ""},
		"strip stays inside":      {config.Rewrite{StripPrefix: "/api"}, "/x/../api/y/../z", "/z"},
		"strip keeps slashes":     {config.Rewrite{StripPrefix: "/api"}, "/api//x", "//x"},
		"add":                     {config.Rewrite{AddPrefix: "/v1"}, "/x", "/v1/x"},
		"add resolves":            {config.Rewrite{AddPrefix: "/v1"}, "/../x", "/v1/x"},
		"strip and add":           {config.Rewrite{StripPrefix: "/a", AddPrefix: "/b"}, "/a", "/b/"},
		"replace":                 {config.Rewrite{Replace: &config.Replace{Regex: "^/user/([0-9]+)$", With: "/users?"}}, "/x", ""},
		"replace groups":          {config.Rewrite{Replace: &config.Replace{Regex: "^/u/([0-9]+)/(?P<n>.*)$", With: "/${n}/$1"}}, "/u/7/a/b?q", "/a/b/7?q"},
		"replace the first":       {config.Rewrite{Replace: &config.Replace{Regex: "a", With: "b"}}, "/aa", "/ba"},
		"replace all":             {config.Rewrite{Replace: &config.Replace{Regex: ".*", With: ""}}, "/aa", "/"},
		"replace the slash":       {config.Rewrite{Replace: &config.Replace{Regex: "^/", With: "x/"}}, "/a", "/x/a"},
		"replace makes no dots":   {config.Rewrite{AddPrefix: "/in", Replace: &config.Replace{Regex: "-", With: ""}}, "/a/.-./b", "/in/b"},
		"strip, replace, add":     {config.Rewrite{StripPrefix: "/a", AddPrefix: "/c", Replace: &config.Replace{Regex: "^/b", With: "/x"}}, "/a/b/d", "/c/x/d"},
		"what is no path":         {config.Rewrite{AddPrefix: "/v1"}, "*", ""},
		"host alone":              {config.Rewrite{Host: "a.example"}, "/%7e", ""},
		"a lone percent sign":     {config.Rewrite{AddPrefix: "/v1"}, "/%zz?%zz", "/v1/%25zz?%zz"},
		"replace keeps the query": {config.Rewrite{Replace: &config.Replace{Regex: "a", With: "b"}}, "/a?a", "/b?a"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := newRewrite(&c.rewrite)
			if err != nil {
				t.Fatal(err)
			}
			got, changed := r.Append(nil, asked(c.target))
			if string(got) != c.want || changed != (c.want != "") {
				t.Errorf("%s became %q, %v; want %q", c.target, got, changed, c.want)
			}
		})
	}
}

func TestRedirect(t *testing.T) {
	for name, c := range map[string]struct {
		to, route, scheme, host, target string
		want                            string // empty: it is there already
	}{
		"to https":               {"https://{host}{path}{query}", "", "http", "a.example:80", "/%7e?x=1", "https://a.example/%7e?x=1"},
		"is https":               {"https://{host}{path}{query}", "", "https", "A.example", "/%7e?x=1", ""},
		"is https with its port": {"https://{host}{path}{query}", "", "https", "a.example:443", "/x", ""},
		"to another port":        {"https://{host}:8443{path}", "", "https", "a.example:443", "/x", "https://a.example:8443/x"},
		"to another host":        {"{scheme}://www.example.com{path}{query}", "", "https", "example.com", "/x?", "https://www.example.com/x?"},
		"is the host":            {"{scheme}://www.example.com{path}{query}", "", "http", "www.example.com", "/x", ""},
		"drops the query":        {"https://{host}{path}", "", "https", "a.example", "/x?y", "https://a.example/x"},
		"rest":                   {"/new{rest}{query}", "/old", "http", "a", "/old/x?q", "/new/x?q"},
		"rest of a folder":       {"/new{rest}", "/old/", "http", "a", "/old/x", "/new/x"},
		"no rest":                {"/new{rest}", "/old", "http", "a", "/old", "/new"},
		"rest is clean":          {"/new{rest}", "/old", "http", "a", "/x/../old/a%2fb/../c", "/new/c"},
		"rest without a route":   {"/new{rest}", "", "http", "a", "/x", "/new/x"},
		"is there":               {"/new", "", "http", "a", "/new", ""},
		"of no path":             {"https://{host}{path}", "", "http", "a", "*", "https://a"},
		"root without a path":    {"https://{host}", "", "https", "a", "/", ""},
		"is there, in a page":    {"/new#top", "", "http", "a", "/new", ""},
		"is the root, in a page": {"https://a#top", "", "https", "a", "/", ""},
		"is there, unresolved":   {"/x/../new", "", "http", "a", "/new", ""},
		"is there, encoded":      {"/%6Eew?%61", "", "http", "a", "/n%65w?%61", ""},
		"is there, other query":  {"/new?%61", "", "http", "a", "/new?a", "/new?%61"},
		"no host":                {"/new", "", "http", "", "/", "/new"},
		"ipv6":                   {"https://{host}{path}", "", "http", "[2001:db8::1]:8080", "/", "https://[2001:db8::1]/"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRedirect(&config.Redirect{To: c.to, Status: 308}, c.route)
			got, away := r.Append(nil, asked(c.target), c.scheme, []byte(c.host))
			if away != (c.want != "") || away && string(got) != c.want {
				t.Errorf("got %q, %v; want %q", got, away, c.want)
			}
		})
	}
}

func TestCORS(t *testing.T) {
	some := newCORS(&config.CORS{Origins: []string{"https://a.example"}, Methods: []string{"PUT", "GET"}, Headers: []string{"X-Token"},
		Expose: []string{"ETag"}, Credentials: true, MaxAge: 600e9})
	all := newCORS(&config.CORS{Origins: []string{"*"}, Headers: []string{"*"}})
	for name, c := range map[string]struct {
		cors                   *CORS
		origin, method, fields string
		refused                string
	}{
		"simple":             {some, "https://a.example", "GET", "", ""},
		"method":             {some, "https://a.example", "PUT", "x-token, accept,", ""},
		"post needs nothing": {some, "https://a.example", "POST", "", ""},
		"other method":       {some, "https://a.example", "DELETE", "", "this method"},
		"method in letters":  {some, "https://a.example", "put", "", "this method"},
		"other field":        {some, "https://a.example", "PUT", "x-token,x-other", "a header field"},
		"other origin":       {some, "https://b.example", "GET", "", "this origin"},
		"null":               {some, "null", "GET", "", "this origin"},
		"longer":             {some, "https://a.example.evil", "GET", "", "this origin"},
		"all":                {all, "null", "POST", "x-any", ""},
		"all but methods":    {all, "https://b.example", "PUT", "", "this method"},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.cors.Refuses([]byte(c.origin), []byte(c.method), []byte(c.fields))
			if (got == "") != (c.refused == "") || !strings.Contains(got, c.refused) {
				t.Errorf("refused because %q, want %q", got, c.refused)
			}
		})
	}
	for _, c := range []struct{ got, want string }{
		{string(some.AppendPreflight(nil, []byte("https://a.example"), []byte("x-token"))),
			"Access-Control-Allow-Origin: https://a.example|Vary: Origin|Access-Control-Allow-Methods: GET, HEAD, POST, PUT|" +
				"Access-Control-Allow-Headers: X-Token|Access-Control-Max-Age: 600|Access-Control-Allow-Credentials: true|" +
				"Vary: Access-Control-Request-Method, Access-Control-Request-Headers|"},
		{string(all.AppendPreflight(nil, []byte("null"), []byte("x-any"))),
			"Access-Control-Allow-Origin: *|Access-Control-Allow-Methods: GET, HEAD, POST|Access-Control-Allow-Headers: x-any|" +
				"Vary: Access-Control-Request-Method, Access-Control-Request-Headers|"},
		{string(some.AppendAnswer(nil, []byte("https://a.example"))),
			"Access-Control-Allow-Origin: https://a.example|Vary: Origin|Access-Control-Allow-Credentials: true|Access-Control-Expose-Headers: ETag|"},
		{string(some.AppendAnswer(nil, []byte("https://b.example"))), "Vary: Origin|"},
		{string(some.AppendAnswer(nil, nil)), "Vary: Origin|"},
		{string(all.AppendAnswer(nil, []byte("https://b.example"))), "Access-Control-Allow-Origin: *|"},
		{string(all.AppendAnswer(nil, nil)), ""},
	} {
		if diff := cmp.Diff(c.want, strings.ReplaceAll(c.got, "\r\n", "|")); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// What a redirect of an application leaves of the path is all of it, whatever route inherits it.
func TestRestOfInheritedRedirect(t *testing.T) {
	got := map[string]string{}
	_, err := New([]config.Tenant{{Applications: []config.Application{{Policies: config.Policies{Redirect: &config.Redirect{To: "https://a{rest}"}}, Routes: []config.Route{
		{Path: "/api", Inherit: true, Runtime: to("inherits")},
		{Path: "/own", Inherit: true, Policies: config.Policies{Redirect: &config.Redirect{To: "https://a{rest}"}}, Runtime: to("own")},
	}}}}}, 0, func(r *config.Runtime, p Place) (string, error) {
		if r != nil {
			location, _ := p.Policy.Redirect.Append(nil, asked(p.Route+"/x"), "http", nil)
			got[r.Pool] = string(location)
		}
		return "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"inherits": "https://a/api/x", "own": "https://a/x"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A route has the policies of its application that it has none of its own for, unless it inherits nothing.
func TestPoliciesAreInherited(t *testing.T) {
	app := config.Policies{Deny: networks(t, "192.0.2.0/24"), Rewrite: &config.Rewrite{Host: "app"}, BasicAuth: &config.BasicAuth{HtpasswdFile: "f", Realm: "r"}}
	own := config.Policies{Rewrite: &config.Rewrite{Host: "route"}}
	got := map[string]string{}
	_, err := New([]config.Tenant{{Applications: []config.Application{{Runtime: to("rest"), Policies: app, Routes: []config.Route{
		{Path: "/own", Inherit: true, Policies: own, Runtime: to("own")},
		{Path: "/none", Runtime: to("none")},
		{Path: "/alone", Policies: own, Runtime: to("alone")},
	}}}}}, 0, func(r *config.Runtime, p Place) (string, error) {
		if p.Policy == nil {
			got[r.Pool] = "nothing"
			return "", nil
		}
		var has []string
		if p.Policy.Access != nil {
			has = append(has, "access")
		}
		if p.Policy.Login != nil {
			has = append(has, p.Policy.Login.Challenge)
		}
		if p.Policy.Request.Drops([]byte("Authorization")) {
			has = append(has, "private")
		}
		got[r.Pool] = strings.Join(append(has, p.Policy.Rewrite.Host), " ")
		return "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"rest": `access Basic realm="r", charset="UTF-8" private app`,
		"own":  `access Basic realm="r", charset="UTF-8" private route`,
		"none": "nothing", "alone": "route",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEdits(t *testing.T) {
	e := newEdits(config.HeaderEdits{Remove: []string{"Server"}, Set: []config.HeaderField{{Name: "X-A", Value: "1"}}, Add: []config.HeaderField{{Name: "X-B", Value: "2"}}})
	for name, want := range map[string]bool{"server": true, "SERVER": true, "x-a": true, "x-b": false, "servers": false, "X_A": true} {
		if e.Drops([]byte(name)) != want {
			t.Errorf("%s is dropped: %v", name, !want)
		}
	}
	if got := string(e.Append(nil)); got != "X-A: 1\r\nX-B: 2\r\n" {
		t.Errorf("appended %q", got)
	}
}

// FuzzRewrite holds that whatever is asked for, a rewritten target is a path below the prefix, with the query as it came.
func FuzzRewrite(f *testing.F) {
	for _, target := range []string{"/api/x", "/api/.-./x", "/-..-/..-?a-b", "/%2d.%2e", "/-", "*"} {
		f.Add(target)
	}
	r, err := newRewrite(&config.Rewrite{StripPrefix: "/api", AddPrefix: "/in", Replace: &config.Replace{Regex: "-(.?)", With: "$1"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, target string) {
		q := asked(target)
		got, changed := r.Append(nil, q)
		if !changed {
			return
		}
		path, query, _ := strings.Cut(string(got), "?")
		_, sent, _ := strings.Cut(target, "?")
		if !strings.HasPrefix(path, "/in/") || strings.Contains(path+"/", "/../") || strings.Contains(path+"/", "/./") || query != sent {
			t.Errorf("%q became %q", target, got)
		}
	})
}
