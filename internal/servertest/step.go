package servertest

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"
)

// Step is what a member does about one request. [Answer] is one; the others are made by the functions
// of this package.
type Step interface {
	moment() moment
	play(*Exchange)
}

// moment is when a step begins.
type moment int

const (
	atAccept moment = iota // when a connection was accepted
	atByte                 // when a request begins on it
	atHead                 // when its head was read
)

type action struct {
	at moment
	do func(*Exchange)
}

func (a action) moment() moment   { return a.at }
func (a action) play(x *Exchange) { a.do(x) }

// Do is a step of your own. It begins when the head was read; what it leaves of the body is read
// afterwards, unless it closed the connection. It must return when writing fails or WaitRelease is
// false, so that the test can end.
func Do(do func(*Exchange)) Step { return action{atHead, do} }

// CloseAccepted closes the next connection before a byte of it is read. If the next request comes over
// a connection that is open already, it is CloseUnread.
func CloseAccepted() Step { return action{atAccept, (*Exchange).Close} }

// ResetAccepted is CloseAccepted with a reset. The peer sees it as it connects or soon after: both happen.
func ResetAccepted() Step { return action{atAccept, (*Exchange).Reset} }

// CloseUnread closes when the first byte of a request arrives, and logs nothing of it: on a kept-alive
// connection, the member whose idle timeout has just fired.
func CloseUnread() Step { return action{atByte, (*Exchange).Close} }

// Reset resets the connection when the head was read.
func Reset() Step { return Do((*Exchange).Reset) }

// ResetUpload resets after n bytes of the request's body.
func ResetUpload(n int64) Step {
	return Do(func(x *Exchange) {
		x.Continue()
		x.ReadBody(n)
		x.Reset()
	})
}

// Close reads the whole request and closes without an answer.
func Close() Step { return Raw("") }

// Raw reads the whole request, writes the text in place of a response and closes.
func Raw(text string) Step {
	return Do(func(x *Exchange) {
		x.Continue()
		if x.ReadBody(-1) == nil {
			io.WriteString(x, text)
		}
		x.Close()
	})
}

// Early answers after n bytes of the request's body, and then reads the rest (or, with Close, does not).
func Early(n int64, answer Answer) Step {
	answer.Silent = answer.Silent || n == 0
	return Do(performance{answer: answer, read: n, stop: -1}.play)
}

// Hold reads the whole request, sends nothing until [Member.Release], and then goes on with the step.
// A member that is never released hangs.
func Hold(step Step) Step {
	return Do(func(x *Exchange) {
		if x.ReadBody(-1) != nil || !x.WaitRelease() {
			x.Close()
			return
		}
		step.play(x)
	})
}

// HoldBody sends the head and n bytes of the body, and the rest after [Member.Release].
func HoldBody(n int, answer Answer) Step {
	return Do(performance{answer: answer, read: -1, stop: n, then: (*Exchange).WaitRelease}.play)
}

// CutBody sends the head and n bytes of the body, and closes.
func CutBody(n int, answer Answer) Step { return breakBody(n, answer, (*Exchange).Close) }

// ResetBody sends the head and n bytes of the body, and resets.
func ResetBody(n int, answer Answer) Step { return breakBody(n, answer, (*Exchange).Reset) }

func breakBody(n int, answer Answer, end func(*Exchange)) Step {
	then := func(x *Exchange) bool {
		end(x)
		return false
	}
	return Do(performance{answer: answer, read: -1, stop: n, then: then}.play)
}

// Drip sends the answer, head and all, one byte at a time.
func Drip(every time.Duration, answer Answer) Step {
	send := func(x *Exchange, data string) error {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for i := range len(data) {
			select {
			case <-tick.C:
			case <-x.member.ended:
				return io.ErrClosedPipe
			}
			if _, err := io.WriteString(x, data[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	return Do(performance{answer: answer, read: -1, stop: -1, send: send}.play)
}

// Stream answers with a body of size bytes that is made while it is sent.
func Stream(size int64) Step {
	return Do(func(x *Exchange) {
		x.Continue()
		if x.ReadBody(-1) != nil {
			x.Close()
			return
		}
		fmt.Fprintf(x, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)
		block := []byte(strings.Repeat("0123456789abcde\n", 4<<10))
		for left := size; left > 0; {
			n, err := x.Write(block[:min(left, int64(len(block)))])
			if err != nil {
				x.Close()
				return
			}
			left -= int64(n)
		}
	})
}

// Digest answers with "sha256-in-hex length\n" of the body that was received.
func Digest() Step {
	return Do(func(x *Exchange) {
		x.Continue()
		if x.ReadBody(-1) != nil {
			x.Close()
			return
		}
		x.member.mu.Lock()
		received := x.entry.snapshot()
		x.member.mu.Unlock()
		Answer{Body: fmt.Sprintf("%s %d\n", received.SHA256, received.Length)}.play(x)
	})
}

// Upgrade answers 101 to whatever protocol was asked for, and sends back every byte until the peer
// ends its side; then it ends its own.
func Upgrade() Step {
	return UpgradeTo(func(x *Exchange) { io.Copy(x, x) })
}

// UpgradeTo answers 101 and leaves the connection to talk; it is closed, as Upgrade's, after that.
func UpgradeTo(talk func(*Exchange)) Step {
	return Do(func(x *Exchange) {
		header := []string{"Connection: Upgrade", "Upgrade: " + x.request.Header.Get("Upgrade")}
		if key := x.request.Header.Get("Sec-WebSocket-Key"); key != "" {
			header = append(header, "Sec-WebSocket-Accept: "+webSocketAccept(key))
		}
		Answer{Status: 101, Header: header}.play(x)
		talk(x)
		x.CloseWrite()
		x.Close()
	})
}

// webSocketAccept follows RFC 6455 section 4.2.2.
func webSocketAccept(key string) string {
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return base64.StdEncoding.EncodeToString(sum[:])
}
