// Package servertest is what tests of the data plane talk to: members that follow a script, and a raw
// client that writes and reads bytes.
//
// A [Member] is a real server on a loopback port or a unix socket. It logs what it receives and answers
// each request with the next [Step] of its script, then with its default:
//
//	a, b := servertest.NewMember(t), servertest.NewMember(t)
//	a.Script(servertest.Status(503), servertest.Reset()) // first request, second request
//	a.Default(servertest.Answer{Body: "a"})              // every later one
//	b.Default(servertest.Hold(servertest.Answer{Body: "b"}))
//
//	// ... start what is tested over a.Address() and b.Address(), then:
//	client := servertest.Dial(t, address)
//	client.Send("PUT /x HTTP/1.1\r\nHost: example.com\r\nContent-Length: 4\r\n\r\ntest")
//	got := b.WaitBodies(1)[0] // b has read the whole request and holds its answer
//	b.Release()
//	answer := client.Final("PUT")
//
// Nothing sleeps: a test waits for what a member has seen, and lets it go on. Every wait is bounded and
// ends the test with the log of the member. At the end of the test all sockets are closed and all
// goroutines have returned.
package servertest

import "time"

// patience bounds every wait. It is never waited for in a test that passes.
const patience = 20 * time.Second
