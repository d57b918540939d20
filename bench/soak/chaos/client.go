package chaos

import (
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// protocol is what a client speaks.
type protocol string

const (
	overHTTP1 protocol = "HTTP/1.1"
	overHTTPS protocol = "HTTP/1.1 over TLS"
	overH2C   protocol = "HTTP/2 without TLS"
	overHTTP2 protocol = "HTTP/2"
)

func (p protocol) streams() bool { return p == overH2C || p == overHTTP2 }
func (p protocol) secure() bool  { return p == overHTTPS || p == overHTTP2 }

// protocols has each as often as clients shall speak it.
var protocols = []protocol{overHTTP1, overHTTP1, overHTTP1, overHTTP1, overH2C, overHTTPS, overHTTP2}

// client is one client after the other, each with some requests over a connection.
func (r *Run) client(ctx, requests context.Context, d Daemon, number int, random *rand.Rand) error {
	for ctx.Err() == nil {
		p, over := pick(random, r.pools), pick(random, protocols)
		if _, settings := d.Secure(); over.secure() && settings == nil {
			continue
		}
		t, err := r.dial(ctx, d, over, net.IPv4(127, 0, 1, byte(1+number)), random)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("connecting to the daemon with %s: %w", over, err)
		}
		var lanes sync.WaitGroup
		for range t.lanes() {
			own := rand.New(rand.NewPCG(random.Uint64(), random.Uint64()))
			lanes.Go(func() { r.session(ctx, requests, t, p, over, own) })
		}
		lanes.Wait()
		t.close()
	}
	return nil
}

// dial connects a client from an address of its own.
func (r *Run) dial(ctx context.Context, d Daemon, over protocol, from net.IP, random *rand.Rand) (tripper, error) {
	address, settings := d.Secure()
	if !over.secure() {
		address = d.Address()
	}
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	t, err := speak(ctx, over, settings, c.(*net.TCPConn), random)
	if err != nil {
		c.Close()
	}
	return t, err
}

// speak begins a protocol on a connection.
func speak(ctx context.Context, over protocol, settings *tls.Config, socket *net.TCPConn, random *rand.Rand) (tripper, error) {
	switch over {
	case overHTTP1:
		return overWire(socket, socket, random), nil
	case overH2C:
		return overStreams(ctx, socket, nil, 1+random.IntN(4))
	case overHTTP2:
		return overStreams(ctx, socket, settings.Clone(), 1+random.IntN(4))
	}
	secure := tls.Client(socket, settings)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return overWire(secure, socket, random), nil
}

// session sends requests to one pool, one after the other, until ctx ends. The requests have a context of their own.
func (r *Run) session(ctx, requests context.Context, t tripper, p *pool, over protocol, random *rand.Rand) {
	cookie, owner := "", ""
	for more, left := true, 1+random.IntN(40); more && left > 0 && ctx.Err() == nil; left-- {
		q := draw(random, fmt.Sprintf(idForm, r.stories.number()), p, over)
		q.last = q.last || left == 1 && !over.streams()
		if p.cookies {
			q.cookie, q.owner = cookie, owner
		}
		if over.streams() && q.trailer {
			// The daemon's library takes trailers on a stream that it has closed already, because the answer came
			// early, for an error of the whole connection. So they come alone, and last.
			if q.trailer = t.lanes() == 1; q.trailer {
				left = 1
			}
		}
		s := r.stories.begin(q)
		s.journal.add("client", "speaks %s", over)
		var saw *seen
		saw, more = t.trip(requests, s)
		r.stories.end(s, saw)
		if saw.cookie != "" {
			cookie, owner = saw.cookie, saw.member
		}
		sleep(ctx, time.Duration(random.IntN(20))*time.Millisecond)
	}
}
