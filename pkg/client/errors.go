package client

import (
	"encoding/json"
	"errors"
	"mime"
	"net"
	"net/http"
	"strings"

	"github.com/scalws/scalws/pkg/api"
)

// maxDetail bounds what is quoted of an answer that is no problem document.
const maxDetail = 200

// Unreachable says that no connection could be made, so that nothing was asked for and nothing changed.
type Unreachable struct {
	// Socket is the path, or Server the address, that was tried.
	Socket, Server string
	// Err is why: fs.ErrNotExist, fs.ErrPermission, syscall.ECONNREFUSED, or what TLS says of a certificate.
	Err error
}

// Error names the socket or the server, and the reason.
func (e *Unreachable) Error() string {
	reason := e.Err
	var op *net.OpError // its text repeats the path
	if errors.As(e.Err, &op) {
		reason = op.Err
	}
	return "connecting to " + e.Socket + e.Server + ": " + reason.Error()
}

// Unwrap is the reason.
func (e *Unreachable) Unwrap() error { return e.Err }

// problemOf is the problem that an answer carries (RFC 9457). Whatever else answers on a socket, a web
// server or an older daemon, still gives a problem with the status and the first line of its text.
func problemOf(resp *http.Response, text []byte) *api.Problem {
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if media == api.ProblemType {
		var problem api.Problem
		if json.Unmarshal(text, &problem) == nil {
			// The status line is what counts; the member is advisory (RFC 9457 section 3.1.2).
			problem.Status = resp.StatusCode
			if problem.Title == "" {
				problem.Title = http.StatusText(resp.StatusCode)
			}
			return &problem
		}
	}
	problem := api.NewProblem(resp.StatusCode, "", "the answer was %s", resp.Status)
	if media == "text/plain" {
		if line := firstLine(text); line != "" {
			problem.Detail += ": " + line
		}
	}
	return problem
}

// firstLine is the first line of a text without surrounding space, at most maxDetail bytes of it.
func firstLine(text []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	line = strings.TrimSpace(line)
	if len(line) > maxDetail {
		line = strings.ToValidUTF8(line[:maxDetail], "") + "..."
	}
	return line
}
