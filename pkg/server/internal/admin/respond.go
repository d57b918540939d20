package admin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/scalws/scalws/pkg/api"
)

// respond answers 200 with v.
func respond(w http.ResponseWriter, v any) error {
	return encode(w, http.StatusOK, "application/json", v)
}

// respondProblem answers with err, which is the whole answer where it is an [api.Problem] and 500 where not.
func (h *handler) respondProblem(w http.ResponseWriter, r *http.Request, err error) {
	var problem *api.Problem
	if !errors.As(err, &problem) {
		h.log.LogAttrs(r.Context(), slog.LevelError, "admin request failed",
			slog.String("method", r.Method), slog.String("path", cut(r.URL.Path)), slog.Any("error", err))
		problem = api.NewProblem(http.StatusInternalServerError, api.CodeInternal, "internal error, see the daemon's log")
	}
	if problem.Status == http.StatusRequestEntityTooLarge {
		// The rest of the body is not read, so nothing can follow it on this connection. net/http would still
		// wait for some of it before it closes; the deadline ends that, and without one it is only later.
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
	}
	// What fails here is the connection, and there is nobody left to tell.
	_ = encode(w, problem.Status, api.ProblemType, problem)
}

// encode writes v as one line of JSON. HTML is not escaped: this is no page, and people read it.
func encode(w http.ResponseWriter, status int, contentType string, v any) error {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encoding answer: %w", err)
	}
	return write(w, status, contentType, body.Bytes())
}

// write answers with a whole body.
func write(w http.ResponseWriter, status int, contentType string, body []byte) error {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// The head is out: an error of the connection cannot become another answer.
	_, _ = w.Write(body)
	return nil
}

// readBody reads a request body of at most [api.MaxBody]. A larger one is refused before it is read where
// its length is known, and at the limit where not.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	tooLarge := api.NewProblem(http.StatusRequestEntityTooLarge, api.CodeBodyTooLarge, "body: larger than %d bytes", api.MaxBody)
	if r.ContentLength > api.MaxBody {
		return nil, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, api.MaxBody))
	var limit *http.MaxBytesError
	if errors.As(err, &limit) {
		return nil, tooLarge
	}
	if err != nil {
		return nil, api.NewProblem(http.StatusBadRequest, api.CodeInvalidBody, "body: incomplete: %v", err)
	}
	return body, nil
}
