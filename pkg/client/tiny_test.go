package client_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
)

// tiny is a stand-in for a daemon, for the examples: each call always gets the same answer. It has an api pool
// of two members, of which one is ejected, and stops when it is told to.
func tiny() (socket string, stop func()) {
	const pool = `{"name":"api","members_from":"api","balance":"round_robin","scheme":"http","revision":7,"etag":"\"3f9a1c.7\"","members":[` +
		`{"address":"192.0.2.5:8080","weight":2,"state":"up"},{"address":"192.0.2.6:8080","weight":1,"state":"ejected","last_failure":"reset"}]}`
	const ejected = `{"seq":41,"time":"2026-11-29T10:00:00.5Z","pool":"api","kind":"ejected","member":"192.0.2.6:8080",` +
		`"evidence":[{"time":"2026-11-29T10:00:00.5Z","cause":"reset"}]}`
	mux := http.NewServeMux()
	for call, answer := range map[string]string{
		"GET /v1/upstreams":                 `{"upstreams":[` + pool + `]}`,
		"GET /v1/upstreams/{name}":          pool,
		"PUT /v1/upstreams/{name}":          pool,
		"GET /v1/status":                    `{"version":"1.0.0","listeners":[{"name":"http","address":"0.0.0.0:80"}]}`,
		"GET /v1/openapi.json":              `{"openapi":"3.1.0"}`,
		"GET /metrics":                      "scalws_upstream_members{pool=\"api\"} 2\n",
		"GET /v1/events":                    `{"boot":"b7","events":[` + ejected + `]}`,
		"POST /v1/upstreams/{name}/preview": `{"keys":2,"source":"given","moved":1,"from":{"192.0.2.6:8080":1},"to":{"192.0.2.5:8080":1}}`,
		"GET /v1/upstreams/{name}/explain": `{"pool":"api","member":"192.0.2.5:8080","reason":"rendezvous",` +
			`"others":[{"address":"192.0.2.6:8080","why":"ejected until 2026-11-29T10:00:10.5Z"}]}`,
	} {
		mux.HandleFunc(call, func(w http.ResponseWriter, r *http.Request) {
			text := answer
			switch {
			case r.URL.Query().Has("dry_run"):
				text = `{"removed":[{"address":"192.0.2.6:8080","weight":1}],"shares":[{"address":"192.0.2.5:8080","before":0.67,"after":1}]}`
			case r.Header.Get("Accept") == "text/event-stream":
				w.Header().Set("Content-Type", "text/event-stream")
				text = "id: b7.41\nevent: ejected\ndata: " + ejected + "\n\n"
			}
			_, _ = io.WriteString(w, text)
		})
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	socket = filepath.Join(dir, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		panic(err)
	}
	server := httptest.NewUnstartedServer(mux)
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	return socket, func() {
		server.Close()
		_ = os.RemoveAll(dir)
	}
}
