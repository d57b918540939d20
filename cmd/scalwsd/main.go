// Command scalwsd is the daemon that carries traffic.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/spf13/pflag"

	"github.com/scalws/scalws/internal/config"
	"github.com/scalws/scalws/pkg/server"
)

// version is set by the linker for a release; otherwise the module's version stands.
var version string

// Exit codes (docs/configuration.md#running-the-daemon).
const (
	exitDone         = 0
	exitFailed       = 1
	exitUsage        = 2
	exitDrainTimeout = 3
	exitInvalid      = 5
)

const usage = `Serve HTTP over pools of members

Usage:
  scalwsd [--config FILE]
  scalwsd --check [--config FILE]
  scalwsd --demo [--demo-address ADDRESS]

Examples:
  scalwsd --config /etc/scalws/scalws.yaml
  scalwsd --check --config scalws.yaml && echo valid
  scalwsd --demo

Flags:
%s
Signals:
  SIGTERM, SIGINT  drain: finish the requests in flight, then stop; a second one stops at once
  SIGHUP           reload the configuration and reopen the log files; what is refused changes nothing

Exit codes:
  0 drained and stopped, 1 failed, 2 wrong usage, 3 the drain ran into shutdown_timeout,
  5 invalid configuration
`

type flags struct {
	config      string
	demo        bool
	demoAddress string
	check       bool
	version     bool
	adminSocket string
	logLevel    string
	logFormat   string
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	f, set, err := parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintf(stdout, usage, set.FlagUsages())
		return exitDone
	case err != nil:
		fmt.Fprintf(stderr, "scalwsd: %v\nSee scalwsd --help\n", err)
		return exitUsage
	case f.version:
		fmt.Fprintf(stdout, "scalwsd %s\n", buildVersion())
		return exitDone
	case f.check:
		return check(f.config, stderr)
	}
	log, err := newLog(f, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "scalwsd: %v\nSee scalwsd --help\n", err)
		return exitUsage
	}
	return serve(f, log, stdout, stderr)
}

func parse(args []string) (*flags, *pflag.FlagSet, error) {
	f := &flags{}
	def := "/etc/scalws/scalws.yaml"
	if env := os.Getenv("SCALWSD_CONFIG"); env != "" {
		def = env
	}
	set := pflag.NewFlagSet("scalwsd", pflag.ContinueOnError)
	set.SortFlags = false
	set.Usage = func() {}
	set.StringVar(&f.config, "config", def, "main configuration `FILE`; environment SCALWSD_CONFIG")
	set.BoolVar(&f.check, "check", false, "check the configuration, print its problems and exit with 0 or 5")
	set.BoolVar(&f.demo, "demo", false, "serve three sample members from an embedded configuration")
	set.StringVar(&f.demoAddress, "demo-address", "127.0.0.1:8080", "listener `ADDRESS` of the demo")
	set.StringVar(&f.adminSocket, "admin-socket", "", "`PATH` of the admin socket; overrides admin.socket.path")
	set.StringVar(&f.logLevel, "log-level", "info", "process log `LEVEL`: debug, info, warn or error")
	set.StringVar(&f.logFormat, "log-format", "text", "process log `FORMAT`: text or json")
	set.BoolVar(&f.version, "version", false, "print the version and exit")
	if err := set.Parse(args); err != nil {
		return f, set, err
	}
	switch {
	case set.NArg() > 0:
		return f, set, fmt.Errorf("unknown argument %q", set.Arg(0))
	case f.demo && (f.check || set.Changed("config")):
		return f, set, errors.New("--demo has a configuration of its own: it goes with neither --config nor --check")
	case f.config == "":
		return f, set, errors.New("--config needs the name of a file")
	case set.Changed("demo-address") && !f.demo:
		return f, set, errors.New("--demo-address goes with --demo")
	}
	return f, set, nil
}

func newLog(f *flags, w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level %s: must be debug, info, warn or error", f.logLevel)
	}
	o := &slog.HandlerOptions{Level: level}
	switch f.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	default:
		return nil, fmt.Errorf("--log-format %s: must be text or json", f.logFormat)
	}
}

// check is `scalwsctl config validate` with the daemon's program.
func check(file string, stderr io.Writer) int {
	_, problems := config.Load(file)
	for _, p := range problems {
		fmt.Fprintln(stderr, p)
	}
	if problems.Failed() {
		return exitInvalid
	}
	fmt.Fprintf(stderr, "%s: valid\n", file)
	return exitDone
}

func serve(f *flags, log *slog.Logger, stdout, stderr io.Writer) int {
	o := server.Options{File: f.config, AdminSocket: f.adminSocket, Stderr: stderr, Log: log, Version: buildVersion()}
	var demo *server.Demo
	if f.demo {
		var err error
		if demo, err = server.NewDemo(f.demoAddress); err != nil {
			fmt.Fprintf(stderr, "scalwsd: %v\n", err)
			return exitFailed
		}
		defer demo.Close()
		o.File, o.Text = "demo", demo.Text()
	}
	inherited, err := activation.ListenersWithNames()
	if err != nil {
		fmt.Fprintf(stderr, "scalwsd: taking the sockets of systemd: %v\n", err)
		return exitFailed
	}
	o.Inherited = inherited
	// A loop keeps its processor while it waits for the system. One more is for all that is not served by a loop.
	o.Loops = runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(o.Loops + 1)
	stop, force, hup := make(chan os.Signal, 2), make(chan struct{}), make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP) // from the beginning: unhandled it would end us
	s, err := server.New(o)
	if err != nil {
		return report(err, f, stderr)
	}
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	// Without this the program would end when who reads its output ends: a log is never worth the traffic.
	signal.Ignore(syscall.SIGPIPE)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer close(force)
	go func() {
		for n := 0; ; {
			select {
			case <-force:
				return
			case <-stop:
				if n++; n > 1 {
					s.Kill()
				}
				notify(log, daemon.SdNotifyStopping)
				cancel()
			}
		}
	}()
	go func() { // on its own: a reload must not keep a second SIGTERM waiting
		for {
			select {
			case <-force:
				return
			case <-hup:
				reload(s, log)
			}
		}
	}()
	if demo != nil {
		greet(stdout, s, demo)
	}
	notify(log, daemon.SdNotifyReady)
	return report(s.Run(ctx), f, stderr)
}

// reload opens the log files anew, also if the configuration is refused: they were moved away in any case. What
// comes of the configuration is logged by the daemon.
func reload(s *server.Server, log *slog.Logger) {
	notify(log, daemon.SdNotifyReloading+"\n"+daemon.SdNotifyMonotonicUsec())
	if err := s.Reopen(); err != nil {
		log.Error("reopening failed, the old files stay", "error", err)
	}
	if _, err := s.ReloadOnSignal("SIGHUP"); errors.Is(err, server.ErrStopping) {
		log.Warn("not reloading", "error", err)
		return
	}
	notify(log, daemon.SdNotifyReady)
}

// notify tells systemd where we are, if it started us (sd_notify(3)).
func notify(log *slog.Logger, state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		log.Warn("telling systemd failed", "state", state, "error", err)
	}
}

// report prints why the daemon ended and gives the exit code.
func report(err error, f *flags, stderr io.Writer) int {
	var bad *server.ConfigError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &bad):
		for _, p := range bad.Problems {
			fmt.Fprintln(stderr, p)
		}
		return exitInvalid
	}
	fmt.Fprintf(stderr, "scalwsd: %v\n", err)
	var le *server.ListenError
	if f.demo && errors.As(err, &le) && le.Address == f.demoAddress {
		fmt.Fprintln(stderr, "For the demo: choose another address with --demo-address, for example --demo-address 127.0.0.1:0")
	}
	if errors.Is(err, server.ErrDrainTimeout) {
		return exitDrainTimeout
	}
	return exitFailed
}

// greet says where everything is and what to try.
func greet(w io.Writer, s *server.Server, d *server.Demo) {
	addr, m := s.Addr("http"), d.Members()
	socket := ""
	if s.AdminSocket() != server.DefaultAdminSocket() {
		socket = " --socket " + s.AdminSocket()
	}
	ctl := "go run ./cmd/scalwsctl" + socket
	fmt.Fprintf(w, `ScalWS demo: three members behind one listener. Stop it with Ctrl-C.

  traffic       http://%s/
  metrics       http://%s/metrics
  admin socket  %s

Try, in another terminal:

  curl http://%s/                      # again and again: the members take turns
  %s upstreams
  %s upstreams set demo %s=3 %s
  curl http://%s/

`, addr, s.MetricsAddr(), s.AdminSocket(), addr, ctl, ctl, m[0], m[1], addr)
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
