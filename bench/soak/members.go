package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/scalws/scalws/pkg/api"
)

// members are servers inside this process. GET answers a short text, GET /large?size=N as many bytes, PUT
// the number of bytes that it has read.
type members struct {
	servers []*http.Server
	at      []string
	dead    atomic.Int32 // index + 1 of the one that was killed
}

func startMembers(n int) (*members, error) {
	ms := &members{}
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			ms.close()
			return nil, fmt.Errorf("starting member: %w", err)
		}
		s := &http.Server{Handler: http.HandlerFunc(answer), ReadHeaderTimeout: time.Minute}
		go s.Serve(l)
		ms.servers, ms.at = append(ms.servers, s), append(ms.at, l.Addr().String())
	}
	return ms, nil
}

func answer(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPut:
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprintf(w, "%d\n", n)
	case r.URL.Path == "/large":
		size, err := strconv.ParseInt(r.URL.Query().Get("size"), 10, 64)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		io.CopyN(w, zeros{}, size)
	default:
		io.WriteString(w, "hello\n")
	}
}

// zeros is an endless body.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func (ms *members) addresses() []string { return ms.at }

func (ms *members) close() {
	for _, s := range ms.servers {
		s.Close()
	}
}

// shuffle replaces the member list 20 times a second by a random choice of at least one.
func (ms *members) shuffle(ctx context.Context, d *daemon) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	n := 0
	for {
		select {
		case <-ctx.Done():
			fmt.Printf("                        the list was replaced %d times\n", n)
			if n == 0 {
				return errors.New("the load was over before the list was replaced: give it more requests")
			}
			return d.set(context.WithoutCancel(ctx), ms.at)
		case <-tick.C:
			if err := d.set(ctx, some(ms.at)); err != nil && ctx.Err() == nil {
				return err
			}
			n++
		}
	}
}

func some(all []string) []string {
	picked := make([]string, 0, len(all))
	for _, i := range rand.Perm(len(all))[:1+rand.IntN(len(all))] {
		picked = append(picked, all[i])
	}
	return picked
}

// killOne kills one member after a second: its connections are reset and new ones refused.
func (ms *members) killOne(ctx context.Context) error {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
	err := ms.servers[0].Close()
	ms.dead.Store(1)
	return err
}

func (ms *members) killed() string { return ms.at[ms.dead.Load()-1] }

// entries are a list for the API.
func entries(addresses []string) []api.SetMember {
	list := make([]api.SetMember, 0, len(addresses))
	for _, a := range addresses {
		list = append(list, api.SetMember{Address: a})
	}
	return list
}
