package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
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
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the caller is gone, and what was done for it was left off
	}
	var problem *api.Problem
	if !errors.As(err, &problem) {
		h.Log.LogAttrs(r.Context(), slog.LevelError, "admin request failed",
			slog.String("method", r.Method), slog.String("path", cut(r.URL.Path)), slog.Any("error", err))
		problem = refuse(api.CodeInternal, "internal error, see the daemon's log")
	}
	switch problem.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusRequestEntityTooLarge:
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
	if err := line(&body, v); err != nil {
		return err
	}
	respondBytes(w, status, contentType, body.Bytes())
	return nil
}

// line appends v as one line of JSON.
func line(to *bytes.Buffer, v any) error {
	enc := json.NewEncoder(to)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encoding answer: %w", err)
	}
	return nil
}

func respondBytes(w http.ResponseWriter, status int, contentType string, body []byte) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	// The head is out: an error of the connection cannot become another answer.
	_, _ = w.Write(body)
}

// readBody reads a request body of at most [api.MaxBody]. A larger one is refused before it is read where
// its length is known, and at the limit where not.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	tooLarge := refuse(api.CodeBodyTooLarge, "body: larger than %d bytes", api.MaxBody)
	if r.ContentLength > api.MaxBody {
		return nil, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, api.MaxBody))
	var limit *http.MaxBytesError
	if errors.As(err, &limit) {
		return nil, tooLarge
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, refuse(api.CodeInvalidBody, "body: incomplete when the time for it was over")
	case err != nil:
		return nil, refuse(api.CodeInvalidBody, "body: incomplete: %v", err)
	}
	return body, nil
}
