package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scalws/scalws/pkg/lb"
)

// Bounds of files in bytes: of the configuration, and of each file that it names.
const (
	maxText  = 4 << 20
	maxNamed = 1 << 20
)

// Load reads and checks the file at path. Files that it names are relative to its folder. The Config is
// nil if the problems hold an error.
func Load(path string) (*Config, Problems) {
	text, f := readFile(path, maxText)
	if f != nil {
		return nil, Problems{{Code: f.code, Severity: Error, File: path, Message: f.message, Hint: f.hint}}
	}
	return Parse(path, text)
}

// Parse checks a text. The file gives problems their file name, and files that the text names their
// folder; it is not read itself. The Config is nil if the problems hold an error.
func Parse(file string, text []byte) (*Config, Problems) {
	d := &decoder{
		file:   file,
		dir:    filepath.Dir(file),
		places: make(map[string]value),
		broken: make(map[string]bool),
	}
	root, p := document(file, text)
	if p != nil {
		return nil, Problems{*p}
	}
	cfg := &Config{}
	d.section(value{node: root}, rootFields(cfg))
	d.check(cfg)

	// Keys are read in the order of the tables, and checks come last; readers expect the order of the
	// text.
	slices.SortStableFunc(d.problems, func(a, b Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	if d.problems.Failed() {
		return nil, d.problems
	}
	slices.SortFunc(cfg.Upstreams, func(a, b Upstream) int { return strings.Compare(a.Name, b.Name) })
	digest := sha256.Sum256(text)
	cfg.Digest = hex.EncodeToString(digest[:])
	return cfg, d.problems
}

// check holds values against each other, after all have been read. It passes over values that are
// broken: what follows from a slip is not a second one.
func (d *decoder) check(c *Config) {
	d.checkServer(c)
	for i := range c.Upstreams {
		d.checkUpstream(&c.Upstreams[i])
	}
	d.checkTenants(c)
}

// readFile reads a regular file of at most limit bytes. Other kinds of files are refused before they
// are opened: a pipe would block.
func readFile(path string, limit int64) ([]byte, *fault) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, &fault{code: codeUnreadableFile, message: fmt.Sprintf("%s is not a regular file", path)}
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

func tooLarge(path string, limit int64) *fault {
	return &fault{code: codeFileTooLarge, message: fmt.Sprintf("%s is larger than %s", path, formatSize(limit))}
}

func unreadable(path string, err error) *fault {
	f := &fault{code: codeUnreadableFile}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.message = path + " does not exist"
	case errors.Is(err, fs.ErrPermission):
		f.message = path + " cannot be read: permission denied"
		f.hint = "let the user that runs the daemon read it"
	default:
		f.message = path + " cannot be read: " + cause(err)
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
func rootFields(c *Config) []field {
	return []field{
		{name: "server", need: true, kind: section(serverFields(&c.Server)),
			meaning: "What faces clients."},
		{name: "admin", kind: section(adminFields(&c.Admin)),
			meaning: "How the daemon is looked into and changed."},
		{name: "metrics", kind: section(metricsFields(&c.Metrics)),
			meaning: "Where metrics and health checks are answered."},
		{name: "access_log", kind: section(accessLogFields(&c.AccessLog)),
			meaning: "Where a line for each request goes."},
		{name: "upstreams", otherwise: "none", kind: named(&c.Upstreams, func(name string, u *Upstream) kind {
			*u = Upstream{Name: name, Settings: lb.DefaultSettings()}
			return section(upstreamFields(u))
		}), meaning: "The pools by name."},
		{name: "tenants", otherwise: "none", kind: list(&c.Tenants, 0, maxTenants, func(t *Tenant) kind {
			return section(tenantFields(t, &c.Server.UpstreamClient))
		}), meaning: "Groups of applications."},
	}
}
