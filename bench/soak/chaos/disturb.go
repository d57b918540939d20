package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// replace gives a pool another list again and again, now and then an empty one, and all of its members at the
// end.
func (r *Run) replace(ctx context.Context, d Daemon, p *pool, random *rand.Rand) error {
	all := p.addresses()
	put := func(list []string) error {
		done := p.begin(list)
		p.journal.add("admin", "sets %s", strings.Join(list, " "))
		if err := d.SetMembers(context.WithoutCancel(ctx), p.name, list); err != nil {
			return fmt.Errorf("replacing the list of %s: %w", p.name, err)
		}
		done()
		r.replaced.Add(1)
		p.forget(time.Now().Add(-2 * tooLong))
		return nil
	}
	for sleep(ctx, time.Duration(100+random.IntN(2500))*time.Millisecond) {
		list := make([]string, 0, len(all))
		for _, i := range random.Perm(len(all))[:max(1, len(all)-random.IntN(3))] {
			list = append(list, all[i])
		}
		if chance(random, 0.02) {
			if err := put(nil); err != nil {
				return err
			}
			sleep(ctx, 20*time.Millisecond)
		}
		if err := put(list); err != nil {
			return err
		}
	}
	return put(all)
}

// storms come over a pool now and then: no member is well for a while.
func (p *pool) storms(ctx context.Context, random *rand.Rand) {
	for sleep(ctx, time.Duration(5000+random.IntN(20_000))*time.Millisecond) {
		p.journal.add("storm", "begins")
		p.storm.Store(true)
		sleep(ctx, time.Duration(200+random.IntN(1500))*time.Millisecond)
		p.storm.Store(false)
		p.journal.add("storm", "ends")
	}
}

// reload switches between the two versions of the configuration.
func (r *Run) reload(ctx context.Context, d Daemon, random *rand.Rand) error {
	for version := 1; sleep(ctx, time.Duration(500+random.IntN(4000))*time.Millisecond); version = 1 - version {
		r.reloads.add(span{time.Now(), time.Now().Add(time.Second)})
		r.journal.add("operator", "reloads, version %d", version)
		if err := d.Reload(version); err != nil {
			return fmt.Errorf("reloading: %w", err)
		}
		r.reloaded.Add(1)
	}
	return nil
}

// stall is how long this program may get no processor before timeouts of the daemon count as nobody's fault.
const stall = 300 * time.Millisecond

// watch notices when the machine stands still.
func (r *Run) watch(ctx context.Context) {
	const rhythm = 20 * time.Millisecond
	for last := time.Now(); sleep(ctx, rhythm); {
		now := time.Now()
		if now.Sub(last) > stall {
			r.stalls.add(span{last, now})
			r.journal.add("machine", "stood still for %v", now.Sub(last))
		}
		last = now
	}
}

// Progress is the run so far in one line.
func (r *Run) Progress() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	judged, failed := 0, 0
	for v, n := range r.tally {
		judged += n
		if v != served1st && v != rescued && v != left {
			failed += n
		}
	}
	return fmt.Sprintf("%d requests judged, %d rescued, %d failed as they had to, %d lists, %d reloads",
		judged, r.tally[rescued], failed, r.replaced.Load(), r.reloaded.Load())
}

// Report says what the requests came to, a line each.
func (r *Run) Report() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, v := range verdicts {
		fmt.Fprintf(&b, "%9d  %s\n", r.tally[v], v)
	}
	return b.String()
}
