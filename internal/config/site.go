package config

import (
	"fmt"
	"hash"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scalws/scalws/internal/strict"
)

// siteTenant is the tenant of all applications that come from site files.
const siteTenant = "sites"

// sitePattern reads the pattern of the site files (docs/configuration.md#site-files), relative to the folder
// of the main file. It is never shown: what the files bring in is shown with the tenants.
func sitePattern(to *string) strict.Kind {
	form := fileName("a pattern with * and ?, relative to this file")
	form.Wants = "a pattern of file names"
	parse := form.Parse
	form.Parse = func(text string) (string, *strict.Fault) {
		if _, err := filepath.Match(text, ""); err != nil {
			return "", &strict.Fault{Code: codeInvalidPattern, Message: fmt.Sprintf("%q is not a pattern", strict.Shorten(text)),
				Hint: "* and ? stand for other characters, [ needs its ]"}
		}
		return parse(text)
	}
	k := strict.Scalar(to, form)
	read := k.Read
	k.Read = func(d *strict.Decoder, v strict.Value) {
		read(d, v)
		if *to != "" && !filepath.IsAbs(*to) {
			*to = filepath.Join(filepath.Dir(d.File), *to)
		}
	}
	k.Show = nil
	return k
}

// site is one site file: an application, whose runtime may be written as proxy.
type site struct {
	Application
	proxy *Runtime
}

// SiteKeys are all keys that a site file can have, in the order of the manual.
func SiteKeys() []strict.Key { return strict.Keys("", siteFields(&site{}, &Client{})) }

// siteFields are the keys of a site file: those of an application less its name, which is the file's.
func siteFields(s *site, base *Client) []strict.Field {
	fields := slices.DeleteFunc(applicationFields(&s.Application, base), func(f strict.Field) bool { return f.Name == "name" })
	return append(fields,
		strict.Field{Name: "proxy", Otherwise: "runtime", Kind: strict.Pointer(&s.proxy, func(r *Runtime) strict.Kind {
			return bareProxy(r, base)
		}), Meaning: "A runtime of type proxy, in place of runtime."},
		strict.Field{Name: "upstreams", Kind: strict.Refused(strict.Fault{Code: codePoolsInSite,
			Message: "a site file cannot define pools", Hint: "define them in upstreams of the main file and use them by name"})},
	)
}

// sites are the site files that were found, and what their applications are held against.
type sites struct {
	files   []string
	pools   poolNames
	domains claims
	// names are those of the applications.
	names claims
}

// findSites looks for the site files. A pattern that fits no file is as good as none, but seldom meant.
func (d checker) findSites(c *Config, pools poolNames, domains claims) *sites {
	s := &sites{pools: pools, domains: domains, names: make(claims)}
	if c.Sites == "" || !d.Sound("sites") {
		return s
	}
	// The pattern was checked, and Glob passes over folders that it cannot read.
	s.files, _ = filepath.Glob(c.Sites)
	slices.Sort(s.files)
	switch at := d.Place("sites"); {
	case len(s.files) == 0:
		d.WarnKey(at, &strict.Fault{Code: codeNoSites, Message: "no file fits " + c.Sites})
	case len(s.files) > maxApplications:
		d.FailKey(at, strict.OutOfRange("0", fmt.Sprintf("%d files, found %d", maxApplications, len(s.files))))
		s.files = nil
	}
	return s
}

// load reads the files, each as a text of its own with its own places, and adds their tenant. Nil, after a
// main file that could not be read at all, has none.
func (s *sites) load(c *Config, digest hash.Hash, now time.Time) strict.Problems {
	if s == nil || len(s.files) == 0 {
		return nil
	}
	var problems strict.Problems
	tenant := Tenant{Name: siteTenant, Applications: make([]Application, 0, len(s.files))}
	for _, file := range s.files {
		a, found := s.read(c, file, digest, now)
		problems = append(problems, found...)
		tenant.Applications = append(tenant.Applications, a)
	}
	c.Tenants = append(c.Tenants, tenant)
	return problems
}

func (s *sites) read(c *Config, file string, digest hash.Hash, now time.Time) (Application, strict.Problems) {
	text, f := readFile(file, strict.MaxText)
	if f != nil {
		return Application{}, strict.Problems{{Code: f.Code, Severity: strict.Error, File: file, Message: f.Message, Hint: f.Hint}}
	}
	fmt.Fprintf(digest, "\n%s %d\n", filepath.Base(file), len(text))
	digest.Write(text)

	var a site
	format := strict.Format{Name: "application", Least: "the smallest one has domains and proxy"}
	problems := strict.Decode(file, text, format, siteFields(&a, &c.Server.UpstreamClient), func(d *strict.Decoder) {
		checker{d, now}.checkSite(&a, s)
	})
	return a.Application, problems
}

// checkSite checks a site file and makes an ordinary application of it.
func (d checker) checkSite(a *site, s *sites) {
	a.Name = strings.TrimSuffix(filepath.Base(d.File), filepath.Ext(d.File))
	whole := d.Place("")
	if _, f := parseName(a.Name); f != nil {
		d.FailValue(whole, &strict.Fault{Code: f.Code, Message: fmt.Sprintf("the name of the file, %q, cannot be that of an application: it %s",
			strict.Shorten(a.Name), f.Message), Hint: f.Hint})
	}
	if first, twice := s.names[a.Name]; twice {
		d.FailValue(whole, &strict.Fault{Code: codeDuplicateName, Message: fmt.Sprintf("the application %s is in %s already", a.Name, first.file),
			Hint: "rename one of the two files"})
	} else {
		s.names[a.Name] = claim{file: d.File, line: 1}
	}
	at := "runtime"
	if d.Given("proxy") {
		if d.Given("runtime") {
			d.FailKey(d.later("proxy", "runtime"), &strict.Fault{Code: codeProxyAndRuntime,
				Message: "proxy and runtime exclude each other", Hint: "remove one of the two"})
			return
		}
		at, a.Runtime = "proxy", a.proxy
	}
	d.checkApplication("", &a.Application, at, s.pools, s.domains)
}
