package server_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/scalws/scalws/internal/servertest"
)

// users is a file with one user.
func users(t testing.TB, user, password string) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	return user + ":" + string(h) + "\n"
}

// usersFile is a file of users for a configuration.
func usersFile(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "htpasswd")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func basic(login string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(login))
}

func TestBasicAuth(t *testing.T) {
	m := named(t, "a")
	file := usersFile(t, users(t, "alice", "open:it"))
	auth := "basic_auth: {htpasswd_file: " + file + ", realm: Back office"
	d := servertest.Start(t, application(t, m[0].Address(), key(auth+"}"), key("routes:"),
		key("  - {path: /told, "+auth+", forward_authorization: true}, runtime: {type: proxy, upstream: {pool: p}}}"),
		key("  - {path: /health, inherit: false, runtime: {type: proxy, upstream: {pool: p}}}"),
	))
	for name, c := range map[string]struct {
		path, field string
		want        int
	}{
		"nothing":          {"/", "X-A: b", 401},
		"right":            {"/", basic("alice:open:it"), 200},
		"wrong":            {"/", basic("alice:open"), 401},
		"unknown":          {"/", basic("bob:open:it"), 401},
		"case of scheme":   {"/", strings.Replace(basic("alice:open:it"), "Basic", "bASIC", 1), 200},
		"two blanks":       {"/", strings.Replace(basic("alice:open:it"), "Basic", "Basic ", 1), 200},
		"other scheme":     {"/", "Authorization: Bearer abc", 401},
		"no base64":        {"/", "Authorization: Basic %%%", 401},
		"no colon":         {"/", basic("alice"), 401},
		"twice":            {"/", basic("alice:open:it") + "\r\n" + basic("alice:open:it"), 401},
		"ends at us":       {"/", basic("alice:open:it") + "\r\nConnection: Authorization", 401},
		"not inherited":    {"/health", "X-A: b", 200},
		"in another form":  {"/x/../%74old", "X-A: b", 401},
		"out of the route": {"/health/../told", "X-A: b", 401},
	} {
		t.Run(name, func(t *testing.T) {
			r := d.Get(c.path, c.field)
			if r.Status != c.want {
				t.Fatalf("%s", r.Head)
			}
			if asks := r.Header.Get("WWW-Authenticate"); (asks == `Basic realm="Back office", charset="UTF-8"`) != (c.want == 401) {
				t.Errorf("WWW-Authenticate: %s", asks)
			}
		})
	}
	before := len(m[0].Requests())
	d.Get("/", basic("alice:open:it"))
	d.Get("/told", basic("alice:open:it"))
	got := m[0].WaitRequests(before + 2)[before:]
	if got[0].Header.Get("Authorization") != "" || got[1].Header.Get("Authorization") == "" {
		t.Errorf("the members got %s and %s", got[0].Head, got[1].Head)
	}
}

// A file that has changed holds from the next look on; one that is broken changes nothing, and refuses a reload.
func TestBasicAuthIsReadAgain(t *testing.T) {
	m := named(t, "a")
	file := usersFile(t, users(t, "alice", "old"))
	s := application(t, m[0].Address(), key("basic_auth: {htpasswd_file: "+file+"}"))
	d := servertest.Start(t, s)
	status := func(login string) int { return d.Get("/", basic(login)).Status }
	if status("alice:old") != 200 || status("alice:new") != 401 {
		t.Fatal("the first file does not hold")
	}
	servertest.Replace(t, file, []byte(users(t, "alice", "new")))
	d.Reload()
	if status("alice:old") != 401 || status("alice:new") != 200 {
		t.Error("the second file does not hold")
	}
	servertest.Replace(t, file, []byte("alice:plain\n"))
	if p := d.Refused(); len(p.Errors) != 1 || p.Errors[0].Code != "invalid_htpasswd" {
		t.Errorf("refused because of %+v", p)
	}
	if status("alice:new") != 200 {
		t.Error("a broken file has locked everybody out")
	}
}
