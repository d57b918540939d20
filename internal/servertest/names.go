package servertest

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Names is a name server on a loopback port. It knows the names that it is told and denies that there are others.
type Names struct {
	t    testing.TB
	conn net.PacketConn

	mu     sync.Mutex
	hosts  map[string][]netip.Addr
	silent bool
}

// NewNames is a name server that runs until the test ends.
func NewNames(t testing.TB) *Names {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("starting a name server: %v", err)
	}
	n := &Names{t: t, conn: conn, hosts: map[string][]netip.Addr{}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.serve()
	}()
	t.Cleanup(func() {
		conn.Close()
		<-ended
	})
	return n
}

// Set gives a name its addresses, in place of those that it had.
func (n *Names) Set(host string, addresses ...string) {
	n.t.Helper()
	var all []netip.Addr
	for _, a := range addresses {
		parsed, err := netip.ParseAddr(a)
		if err != nil {
			n.t.Fatal(err)
		}
		all = append(all, parsed)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts[host+"."] = all
}

// Silence answers nothing from now on.
func (n *Names) Silence() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.silent = true
}

// Resolver asks this server. A lookup that is given up ends at once: the resolver would go on without its caller
// until its own timeout.
func (n *Names) Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, "udp4", n.conn.LocalAddr().String())
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { c.Close() })
		return c, nil
	}}
}

func (n *Names) serve() {
	packet := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(packet)
		if err != nil {
			return
		}
		if reply := n.answer(packet[:size]); reply != nil {
			n.conn.WriteTo(reply, from)
		}
	}
}

// answer follows RFC 1035 section 4.1; nil is no answer.
func (n *Names) answer(packet []byte) []byte {
	var query dnsmessage.Parser
	head, err := query.Start(packet)
	if err != nil {
		return nil
	}
	question, err := query.Question()
	if err != nil {
		return nil
	}
	n.mu.Lock()
	addresses, known := n.hosts[question.Name.String()]
	silent := n.silent
	n.mu.Unlock()
	if silent {
		return nil
	}
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: head.ID, Response: true, Authoritative: true},
		Questions: []dnsmessage.Question{question},
	}
	if !known {
		reply.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addresses {
		var body dnsmessage.ResourceBody
		switch {
		case a.Is4() && question.Type == dnsmessage.TypeA:
			body = &dnsmessage.AResource{A: a.As4()}
		case a.Is6() && question.Type == dnsmessage.TypeAAAA:
			body = &dnsmessage.AAAAResource{AAAA: a.As16()}
		default:
			continue
		}
		reply.Answers = append(reply.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Class: question.Class},
			Body:   body,
		})
	}
	packed, err := reply.Pack()
	if err != nil {
		return nil
	}
	return packed
}
