package http1

import "fmt"

// Error refuses a message.
type Error struct {
	// Status is what to answer: 400, 414, 417, 431 or 505 for a request, 502 for a response, 400 for
	// a chunked body, whoever sent it.
	Status int
	// Reason is one line for people; it quotes nothing of the message.
	Reason string
}

func (e *Error) Error() string {
	return fmt.Sprintf("parsing HTTP/1.1: %s (status %d)", e.Reason, e.Status)
}

func malformed(reason string) error {
	return &Error{Status: 400, Reason: reason}
}
