// Command soak puts a real daemon under load while its members are replaced and killed, and passes
// gigabytes through it. It fails if a request does, or if anything is left over afterwards.
//
// It needs h2load from Debian's package nghttp2-client. Everything listens on loopback.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"time"
)

func main() { os.Exit(run()) }

func run() int {
	requests := flag.Int("requests", 200_000, "requests of each load run")
	connections := flag.Int("connections", 64, "client connections")
	gib := flag.Int64("gib", 4, "GiB of the upload and of the download; 0 leaves them out")
	limit := flag.Duration("limit", 8*time.Minute, "bound of the whole run")
	race := flag.Bool("race", false, "build the daemon with the race detector")
	flag.Parse()
	if _, err := exec.LookPath("h2load"); err != nil {
		fmt.Fprintln(os.Stderr, "soak: h2load is not installed: apt-get install nghttp2-client")
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), *limit)
	defer cancel()
	if err := soak(ctx, *requests, *connections, *gib<<30, *race); err != nil {
		fmt.Fprintf(os.Stderr, "soak: %v\n", err)
		return 1
	}
	fmt.Println("soak: passed")
	return 0
}

// soak runs every part against one daemon and compares it with itself at rest.
func soak(ctx context.Context, requests, connections int, size int64, race bool) (err error) {
	ms, err := startMembers(4)
	if err != nil {
		return err
	}
	defer ms.close()
	d, err := startDaemon(ctx, ms.addresses(), race)
	if err != nil {
		return err
	}
	defer func() {
		if stopErr := d.stop(); err == nil {
			err = stopErr
		}
	}()
	if err := d.warm(ctx); err != nil {
		return err
	}
	before, err := d.usage(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("at rest:                %v\n", before)

	if err := d.loadWhile(ctx, requests, connections, "replacing the list 20 times a second", func(ctx context.Context) error {
		return ms.shuffle(ctx, d)
	}); err != nil {
		return err
	}
	if err := d.loadWhile(ctx, requests, connections, "a member dies", ms.killOne); err != nil {
		return err
	}
	if err := d.ejected(ctx, ms.killed()); err != nil {
		return err
	}
	if size > 0 {
		if err := d.large(ctx, ms, size); err != nil {
			return err
		}
	}
	return d.back(ctx, before)
}
