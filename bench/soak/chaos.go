package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/scalws/scalws/bench/soak/chaos"
)

// disturbed is the daemon of the second part, with the two versions of its configuration.
type disturbed struct {
	*daemon
	versions [2]sections
}

// Reload puts a version in place.
func (d *disturbed) Reload(version int) error { return d.reload(d.versions[version]) }

// underChaos is the second part.
func underChaos(ctx context.Context, o options) (err error) {
	fmt.Printf("chaos:                  %v, %d clients, -seed %d\n", o.chaos, o.clients, o.seed)
	r, err := chaos.New(o.seed, o.clients)
	if err != nil {
		return err
	}
	defer r.Close()
	d := &disturbed{}
	for version := range d.versions {
		server, rest := r.Configuration(version)
		d.versions[version] = sections{server: server, rest: rest, secure: o.tls}
	}
	if d.daemon, err = startDaemon(ctx, d.versions[0], o.race); err != nil {
		return err
	}
	defer func() {
		if stopErr := d.stop(); err == nil {
			err = stopErr
		}
	}()
	if err := d.rest(ctx); err != nil {
		return err
	}
	g := &growth{d: d.daemon, race: o.race}
	if err := g.look(ctx, "at rest"); err != nil {
		return err
	}
	if err := g.during(ctx, r, d, o.chaos); err != nil {
		return err
	}
	err = g.settled(ctx)
	g.print()
	fmt.Print(r.Report())
	return err
}

// growth is what the daemon held in the course of the second part.
type growth struct {
	d     *daemon
	race  bool // its memory is then mostly the detector's
	looks []look
}

type look struct {
	when string
	at   time.Time
	usage
}

func (g *growth) look(ctx context.Context, when string) error {
	u, err := g.d.usage(ctx)
	if err == nil {
		g.looks = append(g.looks, look{when, time.Now(), u})
	}
	return err
}

// looksDuring is how many looks there are while the clients are at it.
const looksDuring = 6

// during runs the chaos, looks at the daemon in equal steps, and says how it goes.
func (g *growth) during(ctx context.Context, r *chaos.Run, d *disturbed, length time.Duration) error {
	bounded, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- r.Chaos(bounded, d) }()
	step, tell := time.NewTicker(length/looksDuring), time.NewTicker(rhythm())
	defer step.Stop()
	defer tell.Stop()
	began := time.Now()
	for {
		select {
		case err := <-ended:
			if err == nil {
				err = ctx.Err() // interrupted, or out of time
			}
			return err
		case <-step.C:
			if err := g.look(ctx, fmt.Sprintf("after %v", time.Since(began).Round(time.Second))); err != nil {
				return err
			}
		case <-tell.C:
			fmt.Printf("%-23s %s\n", time.Since(began).Round(time.Second).String()+":", r.Progress())
		}
	}
}

// rhythm of the lines of progress: a terminal is looked at, a file is read later.
func rhythm() time.Duration {
	if s, err := os.Stdout.Stat(); err == nil && s.Mode()&os.ModeCharDevice != 0 {
		return 3 * time.Second
	}
	return 30 * time.Second
}

// What the daemon may hold more at the end than at the beginning. Goroutines and descriptors have to be those of
// the start, but for the few with which it is being looked at. The heap grows into its load, so memory is compared
// with the first look under load.
const (
	slackGoroutines  = 2
	slackDescriptors = 2
	slackResident    = 24 << 20
)

// settled waits until the daemon has let go of everything.
func (g *growth) settled(ctx context.Context) error {
	before := g.looks[0]
	if err := g.d.until(ctx, 30*time.Second, "goroutines and descriptors are back to "+before.String(), func() (string, bool) {
		now, err := g.d.usage(ctx)
		if err != nil {
			return err.Error(), false
		}
		return now.String(), now.goroutines <= before.goroutines+slackGoroutines && now.descriptors <= before.descriptors+slackDescriptors
	}); err != nil {
		return err
	}
	loaded := g.looks[min(1, len(g.looks)-1)]
	if err := g.look(ctx, "at the end"); err != nil {
		return err
	}
	if now := g.looks[len(g.looks)-1]; len(g.looks) > 3 && !g.race && now.resident > loaded.resident*5/4+slackResident {
		return fmt.Errorf("the daemon's memory grew from %.1f MiB %s to %.1f MiB %s", mib(loaded.resident), loaded.when, mib(now.resident), now.when)
	}
	return nil
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func (g *growth) print() {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tgoroutines\tdescriptors\tMiB resident\t")
	for _, l := range g.looks {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.1f\t\n", l.when, l.goroutines, l.descriptors, mib(l.resident))
	}
	w.Flush()
}
