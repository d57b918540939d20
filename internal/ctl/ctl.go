// Package ctl is scalwsctl: the commands that look into a running daemon and change it, and those that
// need none. One file a command; what they share is the session.
//
// Data goes to the standard output, all else to the standard error. What happened is in the exit code
// (exit.go); a command returns an error and never prints one.
package ctl

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"
)

// System is what a run gets from the outside: streams, environment, clock.
type System struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
	// Getenv is an environment variable; empty for one that is not set.
	Getenv func(name string) string
	// UID is the user for whom the default socket is looked for.
	UID int
	// Now is the time that "ejected for" is counted from.
	Now func() time.Time
	// Version is that of a release; empty leaves it to Build.
	Version string
	// Build says what this was built from; nil if nobody knows.
	Build *debug.BuildInfo
}

// Process is the System of this process.
func Process() System {
	build, _ := debug.ReadBuildInfo()
	return System{
		In:     os.Stdin,
		Out:    os.Stdout,
		Err:    os.Stderr,
		Getenv: os.Getenv,
		UID:    os.Getuid(),
		Now:    time.Now,
		Build:  build,
	}
}

// Signals prepares this process: the context ends at the first interrupt, a second one kills as usual.
// A reader that has gone away shows up as a failed write and not as a signal, so that it cannot hide how
// the command itself ended.
func Signals(parent context.Context) (context.Context, context.CancelFunc) {
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(parent, os.Interrupt)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Main runs scalwsctl with the arguments after the program's name and returns the exit code.
func Main(ctx context.Context, args []string, sys System) int {
	out := newOutput(sys.Out)
	sys.Out = out
	s := &session{System: sys}
	root := newRoot(s)
	root.SetArgs(append([]string{}, args...)) // never nil: cobra would read os.Args

	err := root.ExecuteContext(ctx)
	if err != nil && ctx.Err() != nil {
		err = interrupted(err)
	}
	code := report(sys.Err, s.explainUnreachable(err))
	if err := out.close(); err != nil {
		writeCode := report(sys.Err, err)
		if code == ExitDone {
			code = writeCode
		}
	}
	return code
}
