// Command h2spec holds the daemon's HTTP/2 against the conformance tests of the same name
// (https://github.com/summerwind/h2spec), without TLS and with it. It fails if a test fails that is not listed here
// with its reason.
package main

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/scalws/scalws/bench/pair"
	"github.com/scalws/scalws/pkg/server"
)

// program is the version that the list of known failures is about.
const program = "github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible"

// known are tests that fail, with the reason why that is right.
var known = map[string]string{
	"without TLS: http2/3.5: Sends invalid connection preface": "what does not begin like HTTP/2 is HTTP/1.1 on such a listener, and answered 400",
	"http2/6.5.3: Sends multiple values of SETTINGS_INITIAL_WINDOW_SIZE": "the library takes a setting that is given twice for an attack and " +
		"closes the connection",
	"http2/8.1.2.2: Sends a HEADERS frame that contains the connection-specific header field": "answered 400, as RFC 9113 section 8.1.1 allows " +
		"in place of the reset, and not forwarded",
	`http2/8.1.2.2: Sends a HEADERS frame that contains the TE header field with any value other than "trailers"`: "the same",
}

func main() {
	groups := flag.String("groups", "generic,http2,hpack", "groups of tests, separated by commas")
	flag.Parse()
	if err := run(strings.Split(*groups, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "h2spec:", err)
		os.Exit(1)
	}
}

func run(groups []string) error {
	folder, err := os.MkdirTemp("", "h2spec")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	install := exec.Command("go", "install", program)
	install.Env = append(os.Environ(), "GOBIN="+folder)
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("installing: %w\n%s", err, out)
	}
	member := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "an answer with a body")
	}))
	defer member.Close()
	files, err := pair.Write(folder)
	if err != nil {
		return err
	}
	s, err := server.New(server.Options{
		File:        "h2spec.yaml",
		Text:        configuration(strings.TrimPrefix(member.URL, "http://"), files),
		AdminSocket: filepath.Join(folder, "admin.sock"),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() { stopped <- s.Run(ctx) }()
	defer func() { cancel(); s.Kill(); <-stopped }()

	var failed []error
	for _, listener := range []string{"plain", "tls"} {
		failed = append(failed, test(folder, s.Addr(listener), listener == "tls", groups))
	}
	return errors.Join(failed...)
}

func configuration(member string, files pair.Files) []byte {
	return fmt.Appendf(nil, `server:
  listeners:
    - {name: plain, address: "127.0.0.1:0", h2c: true}
    - {name: tls, address: "127.0.0.1:0", tls: {cert_file: %q, key_file: %q}}
access_log: {output: "off"}
upstreams: {p: {members: [{address: %q}]}}
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, upstream: {pool: p}}}]}]
`, files.Cert, files.Key, member)
}

// report is h2spec's JUnit report, as far as it is of interest.
type report struct {
	Suites []struct {
		Cases []struct {
			Package string `xml:"package,attr"`
			Class   string `xml:"classname,attr"`
			Failure *struct {
				Text string `xml:",chardata"`
			} `xml:"failure"`
			Error *struct {
				Text string `xml:",chardata"`
			} `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func test(folder string, address net.Addr, secure bool, groups []string) error {
	host, port, err := net.SplitHostPort(address.String())
	if err != nil {
		return err
	}
	file := filepath.Join(folder, "report.xml")
	// Five of its long fields are to be more than the longest frame that we take.
	args := append([]string{"-h", host, "-p", port, "-j", file, "-o", "5", "--max-header-length", "16000"}, groups...)
	name := "without TLS"
	if secure {
		args = append([]string{"-t", "-k"}, args...)
		name = "with TLS"
	}
	out, _ := exec.Command(filepath.Join(folder, "h2spec"), args...).CombinedOutput() // its result is in the report
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	var r report
	if err := xml.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("%s: reading the report: %w", name, err)
	}
	tests := 0
	var failed []error
	for _, suite := range r.Suites {
		for _, c := range suite.Cases {
			tests++
			what := c.Package + ": " + c.Class
			reason := known[what] + known[name+": "+what]
			switch {
			case c.Failure == nil && c.Error == nil:
			case reason != "":
				fmt.Printf("%s: fails as it should: %s: %s\n", name, what, reason)
			case c.Failure != nil:
				failed = append(failed, fmt.Errorf("%s: %s\n%s", name, what, c.Failure.Text))
			default:
				failed = append(failed, fmt.Errorf("%s: %s\n%s", name, what, c.Error.Text))
			}
		}
	}
	if tests == 0 {
		return fmt.Errorf("%s: no test has run\n%s", name, out)
	}
	fmt.Printf("%s: %d tests, %d failed\n", name, tests, len(failed))
	return errors.Join(failed...)
}
