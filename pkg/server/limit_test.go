package server

import (
	"errors"
	"net"
	goruntime "runtime"
	"sync/atomic"
	"testing"
)

// One connection more than the limit waits until another is closed; closing one twice frees one place.
func TestLimit(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := limit(inner, 2)
	defer l.Close()
	for range 4 {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	accept := func() net.Conn {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
			return nil
		}
		return c
	}
	first, second := accept(), accept()
	defer second.Close()
	var closed atomic.Bool
	third, begun := make(chan net.Conn), make(chan struct{})
	go func() {
		close(begun)
		c := accept()
		if !closed.Load() {
			t.Error("a third connection was taken beside two")
		}
		third <- c
	}()
	<-begun
	for range 1000 {
		goruntime.Gosched() // without the limit, the third is taken meanwhile
	}
	closed.Store(true)
	first.Close()
	first.Close()
	defer (<-third).Close()

	done := make(chan error)
	go func() {
		_, err := l.Accept()
		done <- err
	}()
	l.Close()
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
