package repotest

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

const internals = "pkg/server/internal/"

type wall struct {
	room    string
	imports []string
	because string
}

// walls says which packages of this module a package may import, and why no others. Test files are
// free: what they import does not end up in a program.
var walls = []wall{
	{"pkg/api", nil, "the wire is a leaf: daemon and client both stand on it, never on each other"},
	{"pkg/lb", nil, "the engine decides and has never heard of HTTP, files or a daemon"},
	{"pkg/client", []string{"pkg/api"}, "who embeds the client does not get the daemon with it"},
	{"pkg/server", []string{
		"pkg/api", "pkg/lb", "internal/config", "internal/strict",
		internals + "http1", internals + "proxy", internals + "upstream", internals + "route",
		internals + "admin", "internal/console", internals + "metrics", internals + "accesslog", internals + "certs",
		internals + "journal", internals + "statefile", internals + "limits", internals + "logins", internals + "loop",
	}, "wiring: the one place that knows all rooms of the daemon, and none of its tools"},

	{internals + "http1", nil, "the codec is bytes in, head out: it can be fuzzed and moved"},
	{internals + "certs", nil, "listeners and the admin API read certificates again when their files change, by one rule"},
	{internals + "statefile", nil, "a file of lists; whose they are and whether they still count is the daemon's business"},
	{internals + "accesslog", nil, "a line is made of values; it need not know where they come from"},
	{internals + "journal", []string{"pkg/lb"}, "events are the engine's; who reads them is not its matter"},
	{internals + "limits", nil, "how many is decided with numbers and a time; what a client is told is the data path's"},
	{internals + "metrics", []string{"pkg/lb"}, "collectors read snapshots of the engine at scrape"},
	{internals + "loop", nil, "sockets and who waits for them; what goes over them is not its matter"},
	{internals + "upstream", []string{internals + "http1", internals + "loop"}, "connections know addresses; choosing one is the engine's"},
	{internals + "logins", []string{"internal/htpasswd"}, "who may come in is a file's matter; what asks for it does not know the file"},
	{internals + "route", []string{"internal/config", "internal/uripath", "pkg/lb"}, "matching and policies are made from the checked configuration, paths compared in its form"},
	{internals + "proxy", []string{"pkg/lb", internals + "http1", internals + "upstream", internals + "route", internals + "limits", internals + "loop"},
		"the data path; metrics and log come in through a hook that it declares"},
	{internals + "admin", []string{"pkg/api", "pkg/lb"}, "handlers see the runtime through an interface that they declare"},

	{"internal/strict", nil, "how a text is read does not depend on what it says"},
	{"internal/htpasswd", nil, "a format and two hashes; files are somebody else's"},
	{"internal/uripath", nil, "the form that the configuration's paths and those of requests are compared in"},
	{"internal/config", []string{"pkg/api", "pkg/lb", "internal/strict", "internal/htpasswd", "internal/uripath"},
		"rules for members and names of algorithms live in the engine, once, and so do those of paths and of files of users; reading YAML in one reader; a plan is shown in the API's words by the daemon and by the tool"},
	{"internal/sim", []string{"pkg/lb", "internal/strict"}, "a simulation drives the engine that serves traffic, and reads its scenario as the configuration is read"},
	{"internal/console", nil, "a page over the API like any other; daemon and tool serve the same, each behind its own guard"},
	{"internal/ctl", []string{"pkg/api", "pkg/client", "pkg/lb", "internal/config", "internal/sim", "internal/strict", "internal/console"},
		"a command line is a client: whatever it shows, everybody can get; how an address is written is the engine's rule, once"},
	{"internal/ctl/gen", []string{"internal/ctl"}, "completions and man pages are rendered from the command tree"},
	{"internal/servertest", []string{"pkg/api", "pkg/client", "pkg/server", "internal/config"},
		"a daemon in process and its client, as a program that embeds them would have them"},
	{"internal/repotest", nil, "nothing but tests"},

	{"cmd/scalwsd", []string{"pkg/server", "internal/config"}, "main is flags and signals; --check needs no daemon"},
	{"cmd/scalwsctl", []string{"internal/ctl"}, "main is one call"},
	{"bench/console", []string{"pkg/server", "internal/ctl"}, "looks at the page as it is served, by the tool in front of the daemon"},
	{"bench/h2spec", []string{"bench/pair", "pkg/server"}, "tests the daemon in its own process"},
	{"bench/pair", nil, "makes certificates for programs that measure"},
	{"bench/peers", []string{"bench/pair"}, "measures programs from outside, ours like the others"},
	{"bench/soak", []string{"pkg/api", "pkg/client", "bench/pair", "bench/soak/chaos"}, "measures the program that an operator would run, through its client"},
	{"bench/soak/chaos", nil, "members, clients and a judge: they know HTTP and the users' guide, and nothing of ours"},
}

func TestImports(t *testing.T) {
	for _, p := range packages(t) {
		room := p.room()
		at := slices.IndexFunc(walls, func(w wall) bool { return w.room == room })
		if at < 0 {
			t.Errorf("%s has no row: say in this table what it may import, and why", room)
			continue
		}
		for _, imported := range p.Imports {
			inside, found := strings.CutPrefix(imported, module+"/")
			if found && !slices.Contains(walls[at].imports, inside) {
				t.Errorf("%s imports %s; it may import %v: %s", room, inside, walls[at].imports, walls[at].because)
			}
		}
	}
}

// TestWallsHaveReasons also keeps the rows unique: of two, the second would never be read.
func TestWallsHaveReasons(t *testing.T) {
	seen := make(map[string]bool)
	for _, w := range walls {
		if w.because == "" {
			t.Errorf("%s has no reason", w.room)
		}
		if seen[w.room] {
			t.Errorf("%s has two rows", w.room)
		}
		seen[w.room] = true
	}
}

// apart are standard library packages, with all below them, that a package does without. Its tests may
// read recorded data and measure time.
var apart = []struct{ room, standard, because string }{
	{"pkg/lb", "net/http", "choosing does not depend on the protocol"},
	{"pkg/lb", "os", "no files, no environment: the caller passes what is needed"},
	{"pkg/lb", "log", "the engine reports events; the daemon logs them, once"},
	{"pkg/lb", "context", "nothing here waits, so nothing can be cancelled"},
}

func TestStandardLibraryImports(t *testing.T) {
	for _, file := range goFiles(t) {
		if file.isTest() {
			continue
		}
		for _, imported := range file.imports() {
			for _, rule := range apart {
				if file.dir() == rule.room && (imported == rule.standard || strings.HasPrefix(imported, rule.standard+"/")) {
					t.Errorf("%s imports %s: %s", file.name, imported, rule.because)
				}
			}
		}
	}
}

// TestWireIsStandardLibraryOnly: whoever speaks the API from Go gets no other module with its types.
func TestWireIsStandardLibraryOnly(t *testing.T) {
	for _, file := range goFiles(t) {
		for _, imported := range file.imports() {
			first, _, _ := strings.Cut(imported, "/")
			if file.dir() == "pkg/api" && !file.isTest() && strings.Contains(first, ".") {
				t.Errorf("%s imports %s", file.name, imported)
			}
		}
	}
}

// TestEngineHasNoClock: the caller passes the time, so that a simulation, an explanation and a test run
// the same code as traffic does.
func TestEngineHasNoClock(t *testing.T) {
	clock := []string{
		"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc",
		"time.Tick", "time.NewTimer", "time.NewTicker",
	}
	for _, file := range goFiles(t) {
		if file.dir() != "pkg/lb" || file.isTest() {
			continue
		}
		file.uses(func(use string, at ast.Node) {
			if slices.Contains(clock, use) {
				t.Errorf("%s:%d uses %s", file.name, file.line(at), use)
			}
		})
	}
}

// TestEngineStartsNothing: with no goroutine of its own the engine has nothing to stop.
func TestEngineStartsNothing(t *testing.T) {
	for _, file := range goFiles(t) {
		if file.dir() != "pkg/lb" || file.isTest() {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			if start, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s:%d starts a goroutine", file.name, file.line(start))
			}
			return true
		})
	}
}
