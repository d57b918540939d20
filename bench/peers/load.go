package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// load is what wrk counted in one run.
type load struct {
	requests int
	took     time.Duration
	p50, p99 time.Duration
}

// script sets up the requests of a scenario for wrk, once: with no function that is called for each
// request wrk prepares its bytes beforehand. The line that it prints has numbers in fixed units.
func script(s scenario) string {
	var b strings.Builder
	if s.post {
		fmt.Fprintf(&b, "wrk.method = \"POST\"\nwrk.body = string.rep(\"x\", %d)\n", uploadSize)
	}
	if s.closing {
		b.WriteString("wrk.headers[\"Connection\"] = \"close\"\n")
	}
	b.WriteString(`function done(summary, latency, requests)
	local e = summary.errors
	io.write(string.format("` + mark + `%d %d %d %d %d %d %d %d %d\n", summary.requests, summary.duration,
		latency:percentile(50), latency:percentile(99), e.connect, e.read, e.write, e.timeout, e.status))
end
`)
	return b.String()
}

// mark begins the line that the script prints.
const mark = "counted: "

// wrk puts a proxy under load. An error of a socket, or an answer that is not a success, is an error: the
// figures of such a run would be of something else.
func wrk(ctx context.Context, program, script string, s scenario, address string, seconds int) (load, error) {
	out, err := exec.CommandContext(ctx, program, "-t", "1", "-c", strconv.Itoa(s.connections), "-d", strconv.Itoa(seconds)+"s",
		"--timeout", "10s", "--latency", "-s", script, s.url(address)).CombinedOutput()
	if err != nil {
		return load{}, fmt.Errorf("running wrk: %w\n%s", errors.Join(err, ctx.Err()), out)
	}
	l, err := parseLoad(out)
	if err != nil {
		return load{}, fmt.Errorf("running wrk: %w\n%s", err, out)
	}
	return l, nil
}

func parseLoad(out []byte) (load, error) {
	_, line, found := bytes.Cut(out, []byte("\n"+mark))
	if !found {
		return load{}, errors.New("it printed no counts")
	}
	var l load
	var took, p50, p99 int64
	var connect, read, write, timeout, status int
	if _, err := fmt.Sscan(string(line), &l.requests, &took, &p50, &p99, &connect, &read, &write, &timeout, &status); err != nil {
		return load{}, fmt.Errorf("reading its counts: %w", err)
	}
	if connect+read+write+timeout+status > 0 {
		return load{}, fmt.Errorf("socket errors: connect %d, read %d, write %d, timeout %d; %d answers were no success", connect, read, write, timeout, status)
	}
	if l.requests == 0 || took == 0 {
		return load{}, errors.New("no request was answered")
	}
	l.took, l.p50, l.p99 = time.Duration(took)*time.Microsecond, time.Duration(p50)*time.Microsecond, time.Duration(p99)*time.Microsecond
	return l, nil
}

// writeScript puts the script of a scenario where wrk finds it.
func writeScript(file string, s scenario) error {
	if err := os.WriteFile(file, []byte(script(s)), 0o600); err != nil {
		return fmt.Errorf("writing wrk's script: %w", err)
	}
	return nil
}

// try sends one request of a scenario and checks the answer, which wrk does not look at.
func try(ctx context.Context, address string, s scenario) error {
	method, body := http.MethodGet, io.Reader(nil)
	if s.post {
		method, body = http.MethodPost, strings.NewReader(strings.Repeat("x", uploadSize))
	}
	n, err := fetch(ctx, method, s.url(address), body)
	if err == nil && n != s.answerSize() {
		err = fmt.Errorf("%s %s: the answer has %d bytes, not %d", method, s.path, n, s.answerSize())
	}
	return err
}

// fetch sends a request on a connection of its own and returns the size of the answer, which has to be 200.
func fetch(ctx context.Context, method, url string, body io.Reader) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return 0, err
	}
	r, err := (&http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // it is ours, and signed by nobody
	}}).Do(req)
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	n, err := io.Copy(io.Discard, r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s", method, url, r.Status)
	}
	return n, err
}
