package server_test

import (
	"errors"
	"net"
	"testing"

	"github.com/scalws/scalws/pkg/server"
)

// An inherited socket is taken by its name, then by its address; what is left is closed.
func TestInheritedSockets(t *testing.T) {
	open := func() net.Listener {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	named, addressed, left := open(), open(), open()
	s, err := server.New(server.Options{
		File: "x.yaml", AdminSocket: t.TempDir() + "/a", Inherited: map[string][]net.Listener{"web": {named}, "unknown": {nil, left, addressed}},
		Text: []byte("server: {listeners: [{name: web, address: \"127.0.0.1:1\"}, {name: api, address: \"" + addressed.Addr().String() + "\"}]}\naccess_log: {output: off}\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := s.Addr("web").String(); got != named.Addr().String() {
		t.Errorf("web listens on %s, want the socket of its name, %s", got, named.Addr())
	}
	if got := s.Addr("api").String(); got != addressed.Addr().String() {
		t.Errorf("api listens on %s, want %s", got, addressed.Addr())
	}
	if _, err := left.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the socket that nobody takes is still open: %v", err)
	}
}
