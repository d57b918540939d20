package htpasswd

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
)

func bcryptOf(t testing.TB, password string, cost int) string {
	t.Helper()
	h, err := bcrypt.GenerateFromPassword([]byte(password), cost)
	if err != nil {
		t.Fatal(err)
	}
	return string(h)
}

func argon2idOf(password, salt string) string {
	key := argon2.IDKey([]byte(password), []byte(salt), 1, 64, 1, 32)
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=19$m=64,t=1,p=1$%s$%s", b64([]byte(salt)), b64(key))
}

func TestVerify(t *testing.T) {
	y := "$2y$" + strings.TrimPrefix(bcryptOf(t, "sesame", 4), "$2a$") // as htpasswd -B writes it
	f, err := Parse([]byte("# staff\n\nalice:" + y + "\r\nbob:" + argon2idOf("open:it", "saltsalt") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		user, password string
		want           bool
	}{
		{"alice", "sesame", true},
		{"alice", "Sesame", false},
		{"alice", "", false},
		{"bob", "open:it", true},
		{"bob", "sesame", false},
		{"carol", "sesame", false},
		{"", "sesame", false},
		{"Alice", "sesame", false},
	} {
		t.Run(c.user+":"+c.password, func(t *testing.T) {
			if got := f.Verify([]byte(c.user), []byte(c.password)); got != c.want {
				t.Errorf("Verify is %v", got)
			}
		})
	}
	if f.Users() != 2 {
		t.Errorf("%d users", f.Users())
	}
}

// A hash from the tests of the reference implementation, phc-winner-argon2.
func TestArgon2idOfAnotherProgram(t *testing.T) {
	const line = "user:$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	f, err := Parse([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	if !f.Verify([]byte("user"), []byte("password")) || f.Verify([]byte("user"), []byte("passwort")) {
		t.Error("the hash is not read as it was made")
	}
}

// spy counts how often a hash is computed.
type spy struct{ asked *int }

func (s spy) matches([]byte) bool { *s.asked++; return true }
func (s spy) cost() int64         { return 1 }

// A user that there is not costs a hash as well, and even the right password for it lets nobody in.
func TestUnknownUserCostsAHash(t *testing.T) {
	asked := 0
	f := &File{users: map[string]hash{}, decoy: spy{&asked}}
	if f.Verify([]byte("nobody"), []byte("x")) || asked != 1 {
		t.Errorf("the decoy was asked %d times", asked)
	}
}

func TestDecoyIsTheCostliest(t *testing.T) {
	f, err := Parse([]byte("a:" + bcryptOf(t, "x", 4) + "\nb:" + bcryptOf(t, "x", 6) + "\nc:" + argon2idOf("x", "saltsalt") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.decoy.(bcryptHash).log2; got != 6 {
		t.Errorf("the decoy has the cost %d", got)
	}
}

func TestParseRefuses(t *testing.T) {
	good := bcryptOf(t, "x", 4)
	argon := argon2idOf("x", "saltsalt")
	for name, c := range map[string]struct {
		text, reason string
		line         int
	}{
		"empty":           {"", "no user", 0},
		"comments":        {"# a:b\n", "no user", 0},
		"no colon":        {"a:" + good + "\nalice\n", "no colon", 2},
		"no name":         {":" + good, "name of a user", 1},
		"control":         {"a\x01:" + good, "name of a user", 1},
		"long name":       {strings.Repeat("a", 256) + ":" + good, "name of a user", 1},
		"twice":           {"a:" + good + "\na:" + good, `"a" has a line`, 2},
		"plain":           {"a:secret", "neither bcrypt", 1},
		"md5":             {"a:$apr1$abc$def", "neither bcrypt", 1},
		"sha1":            {"a:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "neither bcrypt", 1},
		"argon2i":         {"a:$argon2i$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$AAAA", "neither bcrypt", 1},
		"short bcrypt":    {"a:" + good[:59], "malformed", 1},
		"bcrypt of 17":    {"a:$2y$17$" + good[7:], "above 16", 1},
		"argon2 version":  {"a:" + strings.Replace(argon, "v=19", "v=16", 1), "version", 1},
		"argon2 parts":    {"a:" + argon + "$x", "malformed", 1},
		"argon2 numbers":  {"a:" + strings.Replace(argon, "m=64,", "m=x,", 1), "m=,t=,p=", 1},
		"argon2 trailing": {"a:" + strings.Replace(argon, "p=1", "p=1,x=2", 1), "m=,t=,p=", 1},
		"argon2 memory":   {"a:" + strings.Replace(argon, "m=64", "m=4194304", 1), "above", 1},
		"argon2 time":     {"a:" + strings.Replace(argon, "t=1", "t=0", 1), "above", 1},
		"argon2 base64":   {"a:" + argon + "=", "base64", 1},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			var bad *SyntaxError
			if !errors.As(err, &bad) || bad.Line != c.line || !strings.Contains(bad.Reason, c.reason) {
				t.Errorf("got %v, want %q on line %d", err, c.reason, c.line)
			}
		})
	}
}

// FuzzParse holds that no file makes it fail in another way than by an error.
func FuzzParse(f *testing.F) {
	f.Add([]byte("a:" + bcryptOf(f, "x", 4) + "\n#\nb:" + argon2idOf("x", "saltsalt")))
	f.Add([]byte("a:$argon2id$v=19$m=,t=,p=$$"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse(text)
		var bad *SyntaxError
		if (file == nil) != (err != nil) || err != nil && !errors.As(err, &bad) {
			t.Fatalf("File %v, error %v", file, err)
		}
		if file != nil && (file.Users() == 0 || file.decoy == nil) {
			t.Fatal("a file without a user")
		}
	})
}
