package ctl

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

const (
	// consoleHeadTime and consoleIdle bound connections of browsers that have gone without a word.
	consoleHeadTime = 10 * time.Second
	consoleIdle     = time.Minute
	consoleMaxHead  = 32 << 10
)

// consoleOptions are "console".
type consoleOptions struct {
	*session
	address string
	open    bool
}

func newConsole(s *session) *cobra.Command {
	o := consoleOptions{session: s}
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Serve the web console to a browser on this machine",
		Long: `Serve the web console to a browser on this machine, until it is interrupted.

The console shows pools, members and events as they are, second by second, and changes nothing. It listens on
a loopback address and passes on what the page asks for, GET and HEAD alone, to the daemon. The URL that is
printed holds a token, which is a new one each time: without it nobody gets an answer, not even other users
of this machine.`,
		Example: `  scalwsctl console --open
  scalwsctl console --address 127.0.0.1:9000
  ssh -L 9000:127.0.0.1:9000 lb1 scalwsctl console --address 127.0.0.1:9000`,
		Args:              countArgs(0, 0, ""),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			address, err := loopback(o.address)
			if err != nil {
				return usage(cmd, "--address %s: %w", o.address, err)
			}
			return o.run(cmd.Context(), address)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.address, "address", "127.0.0.1:0", "Listen at this loopback address; port 0 is any that is free")
	flags.BoolVar(&o.open, "open", false, "Open the console in a browser")
	completeFlag(cmd, "address", cobra.NoFileCompletions)
	return cmd
}

// loopback reads an address and refuses those that other machines could reach. A name is refused too: what it means
// is decided elsewhere.
func loopback(address string) (netip.AddrPort, error) {
	a, err := netip.ParseAddrPort(address)
	switch {
	case err != nil:
		return a, errors.New("must have the form 127.0.0.1:PORT")
	case !a.Addr().IsLoopback():
		return a, errors.New("must be a loopback address, such as 127.0.0.1")
	}
	return a, nil
}

func (o *consoleOptions) run(ctx context.Context, address netip.AddrPort) error {
	daemon, _, err := o.daemon(ctx)
	if err != nil {
		return err
	}
	// The page says itself when the daemon goes. One that was never there is a mistake of the command line.
	if _, err := daemon.Status(ctx); err != nil {
		return fmt.Errorf("asking for the status: %w", err)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address.String())
	if err != nil {
		return fmt.Errorf("opening the console: %w", err)
	}
	t := newTunnel(daemon, o.timeout, l.Addr().String())
	server := &http.Server{
		Handler:           t,
		ReadHeaderTimeout: consoleHeadTime,
		IdleTimeout:       consoleIdle,
		MaxHeaderBytes:    consoleMaxHead,
		ErrorLog:          discard(),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()

	fmt.Fprintln(o.Out, t.url())
	if f, ok := o.Out.(*output); ok {
		f.flush()
	}
	if isTerminal(o.Err) {
		fmt.Fprintln(o.Err, "the console is at this URL until you press Ctrl-C")
	}
	if o.open {
		if err := openBrowser(t.ticketURL()); err != nil {
			fmt.Fprintf(o.Err, "warning: opening a browser: %v; open the URL yourself\n", err)
		}
	}
	select {
	case err = <-served:
		return fmt.Errorf("serving the console: %w", err)
	case <-ctx.Done():
		// What is under way are questions and streams: nobody loses anything by their end.
		server.Close()
		<-served
		return nil
	}
}

// openBrowser asks the desktop for a browser. It gets a session of its own, so that the Ctrl-C that ends the console
// does not end the browser.
func openBrowser(url string) error {
	cmd := exec.Command("xdg-open", url)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	go cmd.Wait() // it may last as long as the browser
	return nil
}

// newToken is 130 bits that nobody can guess.
func newToken() string { return rand.Text() }
