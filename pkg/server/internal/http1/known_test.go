package http1

import (
	"bytes"
	"strings"
	"testing"
)

// knownNames are the names behind the constants, in their order.
const knownNames = `Host Connection Keep-Alive Proxy-Connection TE Trailer Transfer-Encoding Upgrade Content-Length Expect
	Cookie Set-Cookie Via Date Server Forwarded X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-Request-Id User-Agent
	Proxy-Authenticate Proxy-Authorization Proxy-Authentication-Info Retry-After`

func TestKnown(t *testing.T) {
	names := strings.Fields(knownNames)
	if want := int(FieldRetryAfter); len(names) != want {
		t.Fatalf("%d names, want %d", len(names), want)
	}
	for i, name := range names {
		for _, spelled := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if got := know([]byte(spelled)); got != Known(i+1) {
				t.Errorf("%s is field %d, want %d", spelled, got, i+1)
			}
		}
		// Each other token of one byte's difference is another field.
		for j := range name {
			for c := range 256 {
				near := []byte(name)
				near[j] = byte(c)
				if class[c]&tchar != 0 && !bytes.EqualFold(near, []byte(name)) && know(near) != FieldOther {
					t.Errorf("%q is taken for %s", near, name)
				}
			}
		}
	}
}
