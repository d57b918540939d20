package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/scalws/scalws/internal/strict"
)

// maxNamed bounds a file that the configuration names, in bytes.
const maxNamed = 1 << 20

// Load reads and checks the file at path. Files that it names are relative to its folder. The Config is
// nil if the problems hold an error.
func Load(path string) (*Config, strict.Problems) {
	text, f := readFile(path, strict.MaxText)
	if f != nil {
		return nil, strict.Problems{{Code: f.Code, Severity: strict.Error, File: path, Message: f.Message, Hint: f.Hint}}
	}
	return Parse(path, text)
}

// Parse checks a text. The file gives problems their file name, and files that the text names their
// folder; it is not read itself. The Config is nil if the problems hold an error.
func Parse(file string, text []byte) (*Config, strict.Problems) {
	cfg := &Config{}
	format := strict.Format{Name: "configuration", Least: "the smallest one has server.listeners"}
	digest, now := sha256.New(), time.Now()
	digest.Write(text)
	var sites *sites
	problems := strict.Decode(file, text, format, rootFields(cfg), func(d *strict.Decoder) {
		sites = checker{d, now}.check(cfg)
	})
	problems = append(problems, sites.load(cfg, digest, now)...)
	if problems.Failed() {
		return nil, problems
	}
	slices.SortFunc(cfg.Upstreams, func(a, b Upstream) int { return strings.Compare(a.Name, b.Name) })
	cfg.Digest = hex.EncodeToString(digest.Sum(nil))
	return cfg, problems
}

// checker reports what is wrong with values that were read.
type checker struct {
	*strict.Decoder
	// now is when the dates of certificates are looked at.
	now time.Time
}

// check holds values against each other, after all have been read. It passes over values that are
// broken: what follows from a slip is not a second one. What is left is for the site files.
func (d checker) check(c *Config) *sites {
	d.checkServer(c)
	d.checkAdmin(c)
	var byDefault Server
	strict.Section(serverFields(&byDefault)).Preset("")
	for i := range c.Upstreams {
		d.checkUpstream(&c.Upstreams[i])
		d.checkNumbers(&c.Upstreams[i], c.Server.UpstreamClient, byDefault.UpstreamClient)
	}
	pools, domains := d.poolNames(c), make(claims)
	d.checkTenants(c, pools, domains)
	d.checkShutdown(c, byDefault)
	return d.findSites(c, pools, domains)
}

// readFile reads a regular file of at most limit bytes. Other kinds of files are refused before they
// are opened: a pipe would block.
func readFile(path string, limit int64) ([]byte, *strict.Fault) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, &strict.Fault{Code: codeUnreadableFile, Message: fmt.Sprintf("%s is not a regular file", path)}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	if int64(len(text)) > limit {
		return nil, tooLarge(path, limit)
	}
	return text, nil
}

func tooLarge(path string, limit int64) *strict.Fault {
	return &strict.Fault{Code: strict.CodeFileTooLarge, Message: fmt.Sprintf("%s is larger than %s", path, strict.FormatSize(limit))}
}

func unreadable(path string, err error) *strict.Fault {
	f := &strict.Fault{Code: codeUnreadableFile}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Message = path + " does not exist"
	case errors.Is(err, fs.ErrPermission):
		f.Message = path + " cannot be read: permission denied"
		f.Hint = "let the user that runs the daemon read it"
	default:
		f.Message = path + " cannot be read: " + cause(err)
	}
	return f
}

// cause is the text of a file error without the operation and the path, which the message has.
func cause(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// rootFields are the keys of the document. The server comes first: runtimes start from its
// upstream_client.
func rootFields(c *Config) []strict.Field {
	return []strict.Field{
		{Name: "server", Need: true, Kind: strict.Section(serverFields(&c.Server)),
			Meaning: "What faces clients."},
		{Name: "admin", Kind: strict.Section(adminFields(&c.Admin)),
			Meaning: "How the daemon is looked into and changed."},
		{Name: "metrics", Kind: strict.Section(metricsFields(&c.Metrics)),
			Meaning: "Where metrics and health checks are answered."},
		{Name: "access_log", Kind: strict.Section(accessLogFields(&c.AccessLog)),
			Meaning: "Where a line for each request goes."},
		{Name: "upstreams", Otherwise: "none", Kind: strict.Named(&c.Upstreams, maxPools, name(), freshUpstream, upstreamName, func(u *Upstream) strict.Kind {
			return strict.Section(upstreamFields(u)).Also(upstreamRules()...)
		}), Meaning: "The pools by name."},
		{Name: "sites", Otherwise: "none", Kind: sitePattern(&c.Sites),
			Meaning: "Site files, as a pattern relative to this file, for example sites/*.yaml. Each is one application of the tenant sites, called like the file without its ending."},
		{Name: "tenants", Otherwise: "none", Kind: strict.List(&c.Tenants, 0, maxTenants, func(t *Tenant) strict.Kind {
			return strict.Section(tenantFields(t, &c.Server.UpstreamClient))
		}), Meaning: "Groups of applications."},
	}
}
