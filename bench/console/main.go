// Command console looks at the web console as its users do: in a browser, over scalwsctl console, in front of a daemon
// whose members fail on cue. It fails if something is not there, is slow, or is reported by the browser as an error, and
// leaves screenshots.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	folder := flag.String("out", "bin/console", "folder for the screenshots")
	flag.Parse()
	if err := run(*folder); err != nil {
		fmt.Fprintln(os.Stderr, "console:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "console")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := os.Chdir(folder); err != nil {
		return err
	}
	s, err := newScene(folder)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.serve(true); err != nil {
		return err
	}
	url, err := s.console()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	p, closeBrowser, err := open(ctx)
	if err != nil {
		return err
	}
	defer closeBrowser()
	v := &visit{page: p, scene: s, out: out}
	return v.all(url)
}

// visit is a user of the console.
type visit struct {
	*page
	scene  *scene
	out    string
	failed []error
}

// all goes through everything. What is wrong with one part does not keep the others from being looked at; an error of
// the browser does.
func (v *visit) all(url string) error {
	for _, part := range []struct {
		name string
		see  func() error
	}{
		{"start", func() error { return v.start(url) }},
		{"overview", v.overview},
		{"parts", v.parts},
		{"fleet", v.fleet},
		{"keyboard", v.keyboard},
		{"looks", v.looks},
		{"contrast", v.contrast},
		{"policy", v.policy},
		{"token", v.withoutToken},
		{"gone", v.gone},
		{"no pools", v.noPools},
	} {
		if err := part.see(); err != nil {
			return errors.Join(append(v.failed, fmt.Errorf("%s: %w", part.name, err))...)
		}
		for _, fault := range v.takeFaults() {
			v.wrong("%s: the browser reports %s", part.name, fault)
		}
		fmt.Printf("%s: seen\n", part.name)
	}
	return errors.Join(v.failed...)
}

// wrong notes what is not as it should be.
func (v *visit) wrong(format string, args ...any) {
	v.failed = append(v.failed, fmt.Errorf(format, args...))
}

// check notes it if an expression is not true.
func (v *visit) check(what, expression string) error {
	ok, err := eval[bool](v.page, expression)
	if err == nil && !ok {
		v.wrong("it is not true that %s", what)
	}
	return err
}

func (v *visit) shot(name string) error { return v.shoot(filepath.Join(v.out, name+".png")) }
