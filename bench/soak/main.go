// Command soak puts a real daemon under load and looks for whatever should not happen. In its first part h2load
// sends requests while members are replaced and killed, and gigabytes pass through; in its second part members and
// clients do all that can go wrong, and every request is judged. It fails if a request does without an excuse, or if
// anything is left over afterwards.
//
// The first part needs h2load from Debian's package nghttp2-client. Everything listens on loopback.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

func main() { os.Exit(run()) }

// options are the flags.
type options struct {
	requests    int
	connections int
	gib         int64
	chaos       time.Duration
	clients     int
	seed        uint64
	tls         bool
	race        bool
}

func run() int {
	var o options
	flag.IntVar(&o.requests, "requests", 200_000, "requests of each load run; 0 leaves the first part out")
	flag.IntVar(&o.connections, "connections", 64, "client connections of the first part")
	flag.Int64Var(&o.gib, "gib", 4, "GiB of the upload and of the download; 0 leaves them out")
	flag.DurationVar(&o.chaos, "chaos", 10*time.Minute, "length of the second part; 0 leaves it out")
	flag.IntVar(&o.clients, "clients", 40, "clients of the second part")
	flag.Uint64Var(&o.seed, "seed", 0, "seed of the second part; 0 takes one from the clock")
	flag.BoolVar(&o.tls, "tls", true, "clients of the second part speak TLS as well")
	limit := flag.Duration("limit", 25*time.Minute, "bound of the whole run")
	flag.BoolVar(&o.race, "race", false, "build the daemon with the race detector")
	flag.Parse()
	if flag.NArg() > 0 || o.clients < 1 || o.clients > 200 {
		fmt.Fprintln(os.Stderr, "soak: no arguments are taken, and -clients is 1 to 200")
		return 2
	}
	if _, err := exec.LookPath("h2load"); err != nil && o.requests > 0 {
		fmt.Fprintln(os.Stderr, "soak: h2load is not installed: apt-get install nghttp2-client")
		return 2
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	for _, part := range []struct {
		wanted bool
		run    func(context.Context, options) error
	}{{o.requests > 0, underLoad}, {o.chaos > 0, underChaos}} {
		if !part.wanted {
			continue
		}
		if err := part.run(ctx, o); err != nil {
			fmt.Fprintf(os.Stderr, "soak: %v\n", err)
			return 1
		}
	}
	fmt.Println("soak: passed")
	return 0
}

// underLoad is the first part: it runs against one daemon and compares it with itself at rest.
func underLoad(ctx context.Context, o options) (err error) {
	ms, err := startMembers(4)
	if err != nil {
		return err
	}
	defer ms.close()
	d, err := startDaemon(ctx, loaded(64), o.race)
	if err != nil {
		return err
	}
	defer func() {
		if stopErr := d.stop(); err == nil {
			err = stopErr
		}
	}()
	d.all = ms.addresses()
	if err := d.setAgain(ctx); err != nil {
		return err
	}
	if err := d.warm(ctx); err != nil {
		return err
	}
	before, err := d.usage(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("at rest:                %v\n", before)

	if err := d.loadWhile(ctx, o.requests, o.connections, "replacing the list 20 times a second", func(ctx context.Context) error {
		return ms.shuffle(ctx, d)
	}); err != nil {
		return err
	}
	if err := d.loadWhile(ctx, o.requests, o.connections, "reloading 50 times a second", d.reloadOften); err != nil {
		return err
	}
	if err := d.loadWhile(ctx, o.requests, o.connections, "a member dies", ms.killOne); err != nil {
		return err
	}
	if err := d.ejected(ctx, ms.killed()); err != nil {
		return err
	}
	if o.gib > 0 {
		if err := d.large(ctx, ms, o.gib<<30, o.race); err != nil {
			return err
		}
	}
	return d.back(ctx, before)
}
