package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/scalws/scalws/pkg/api"
)

// loadWhile runs h2load over HTTP/1.1 while something happens. Every request has to succeed.
func (d *daemon) loadWhile(ctx context.Context, requests, connections int, what string, happens func(context.Context) error) error {
	if err := d.setAgain(ctx); err != nil {
		return err
	}
	during, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- happens(during) }()
	began := time.Now()
	out, err := exec.CommandContext(ctx, "h2load", "--h1", "-n", strconv.Itoa(requests), "-c", strconv.Itoa(connections), "-t", "1",
		"http://"+d.address+"/").CombinedOutput()
	took := time.Since(began)
	stop()
	if err := errors.Join(err, <-ended); err != nil {
		return fmt.Errorf("%s: %w\n%s", what, err, out)
	}
	total, codes := line(out, "requests:"), line(out, "status codes:")
	fmt.Printf("%-23s %s\n", "load, "+what+":", total)
	fmt.Printf("                        %s, %.0f requests/s\n", codes, float64(requests)/took.Seconds())
	if !strings.Contains(total, fmt.Sprintf("%d succeeded, 0 failed, 0 errored", requests)) || !strings.Contains(codes, fmt.Sprintf("%d 2xx", requests)) {
		return fmt.Errorf("%s: a request failed:\n%s", what, out)
	}
	return nil
}

// setAgain gives the pool all members that it had at first.
func (d *daemon) setAgain(ctx context.Context) error { return d.set(ctx, d.all) }

// reloadOften reloads 50 times a second: every fourth time with a pool that is built anew, otherwise with one that stays.
func (d *daemon) reloadOften(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	n := 0
	for {
		select {
		case <-ctx.Done():
			fmt.Printf("                        the configuration was reloaded %d times\n", n)
			if n == 0 {
				return errors.New("the load was over before a reload: give it more requests")
			}
			return nil
		case <-tick.C:
			if err := d.configure(loaded(64 - n/4%2)); err != nil {
				return err
			}
			if _, err := d.admin.Reload(context.WithoutCancel(ctx)); err != nil {
				return fmt.Errorf("reloading: %w", err)
			}
			n++
		}
	}
}

func line(out []byte, begin string) string {
	for _, l := range strings.Split(string(out), "\n") {
		if strings.HasPrefix(l, begin) {
			return strings.TrimSpace(strings.TrimPrefix(l, begin))
		}
	}
	return ""
}

// ejected checks that a member that was killed is out, or on probation after it.
func (d *daemon) ejected(ctx context.Context, address string) error {
	u, err := d.admin.Upstream(ctx, "p")
	if err != nil {
		return err
	}
	for _, m := range u.Members {
		if m.Address == address {
			fmt.Printf("the killed member:      %s, %d failures, last %s\n", m.State, m.ConsecutiveFailures, m.LastFailure)
			if m.State == api.StateUp {
				return fmt.Errorf("the killed member is %s", m.State)
			}
			return nil
		}
	}
	return fmt.Errorf("member %s is not in the pool", address)
}

// large passes an upload and a download of this many bytes, and watches the daemon's memory.
func (d *daemon) large(ctx context.Context, ms *members, size int64, race bool) error {
	most := int64(mostResident)
	if race {
		most *= 4 // the detector keeps several words for each
	}
	if err := d.set(ctx, ms.at[1:]); err != nil {
		return err
	}
	for name, pass := range map[string]func() error{
		"upload": func() error {
			got, err := d.do(ctx, http.MethodPut, "/", io.LimitReader(zeros{}, size))
			if err == nil && got != fmt.Sprintf("%d\n", size) {
				err = fmt.Errorf("the member read %q bytes of %d", got, size)
			}
			return err
		},
		"download": func() error { return d.download(ctx, size) },
	} {
		peak, stop := d.watch(ctx)
		began := time.Now()
		err := pass()
		took := time.Since(began)
		stop()
		if err != nil {
			return fmt.Errorf("%s of %d bytes: %w", name, size, err)
		}
		fmt.Printf("%-23s %d bytes in %.1f s (%.0f MiB/s), daemon at most %.1f MiB resident\n",
			name+":", size, took.Seconds(), float64(size)/(1<<20)/took.Seconds(), float64(*peak)/(1<<20))
		if *peak > most {
			return fmt.Errorf("%s: the daemon's memory grew to %d bytes", name, *peak)
		}
	}
	return nil
}

// mostResident is what the daemon may hold while one large body passes: far below the body.
const mostResident = 128 << 20

func (d *daemon) download(ctx context.Context, size int64) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://%s/large?size=%d", d.address, size), nil)
	if err != nil {
		return err
	}
	r, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	n, err := io.Copy(io.Discard, r.Body)
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes arrived", n)
	}
	return err
}

// watch looks at the daemon's memory until stop; then peak is the most that was seen.
func (d *daemon) watch(ctx context.Context) (peak *int64, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	peak = new(int64)
	go func() {
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if u, err := d.usage(ctx); err == nil {
					*peak = max(*peak, u.resident)
				}
			}
		}
	}()
	return peak, func() { cancel(); <-done }
}

// back waits until the daemon holds no more goroutines and descriptors than at rest before the load.
func (d *daemon) back(ctx context.Context, before usage) error {
	if err := d.set(ctx, nil); err != nil {
		return err
	}
	var now usage
	err := d.until(ctx, 20*time.Second, "goroutines and descriptors are back to "+before.String(), func() (string, bool) {
		var err error
		now, err = d.usage(ctx)
		if err != nil {
			return err.Error(), false
		}
		return now.String(), now.goroutines <= before.goroutines && now.descriptors <= before.descriptors
	})
	fmt.Printf("afterwards:             %v\n", now)
	return err
}
