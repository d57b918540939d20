package http1

import (
	"strings"
	"testing"
)

func TestMethod(t *testing.T) {
	var idempotent []string
	for _, name := range strings.Fields("GET HEAD OPTIONS PUT DELETE POST PATCH CONNECT TRACE get PROPFIND X") {
		if parseMethod([]byte(name)).Idempotent() {
			idempotent = append(idempotent, name)
		}
	}
	if got, want := strings.Join(idempotent, " "), "GET HEAD OPTIONS PUT DELETE"; got != want {
		t.Errorf("idempotent: %s; want %s", got, want)
	}
	methods := map[string]Method{"GET": GET, "HEAD": HEAD, "OPTIONS": OPTIONS, "PUT": PUT, "DELETE": DELETE, "POST": POST,
		"PATCH": PATCH, "CONNECT": CONNECT, "TRACE": TRACE, "get": MethodOther, "GETS": MethodOther, "": MethodOther}
	for name, want := range methods {
		if got := parseMethod([]byte(name)); got != want {
			t.Errorf("%s is %d, want %d", name, got, want)
		}
	}
}
