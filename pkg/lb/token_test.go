package lb

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

func TestTokenIsTheHMACOfTheAddress(t *testing.T) {
	p := newPool(t, "a", balance(Hash, ByCookie))
	l := pick(t, p, epoch, Key{}, nil)
	mac := hmac.New(sha256.New, []byte("key"))
	mac.Write([]byte("a:80"))
	if want := hex.EncodeToString(mac.Sum(nil)[:16]); l.Token() != want {
		t.Errorf("got %s, want %s", l.Token(), want)
	}
	other := newPool(t, "a", func(o *Options) { balance(Hash, ByCookie)(o); o.Key = []byte("another") })
	if pick(t, other, epoch, Key{}, nil).Token() == l.Token() {
		t.Error("the key does not count")
	}
}

func TestAffinity(t *testing.T) {
	p := newPool(t, "a b c", balance(Hash, ByCookie))
	first := pick(t, p, epoch, Key{}, nil)
	if first.ByKey() {
		t.Error("a request without a cookie was decided by it")
	}
	for range 5 {
		key, ok := p.TokenKey(epoch, []byte(first.Token()))
		l := pick(t, p, epoch, key, nil)
		if !ok || l.Address() != first.Address() || !l.ByKey() {
			t.Fatalf("%v: %s, want %s", ok, l.Address(), first.Address())
		}
	}
	// A retry goes elsewhere, by round robin: it needs a new cookie.
	key, _ := p.TokenKey(epoch, []byte(first.Token()))
	var tried Tried
	pick(t, p, epoch, key, &tried)
	second := pick(t, p, epoch, key, &tried)
	if second.Address() == first.Address() || second.ByKey() {
		t.Errorf("the retry went to %s, by key %v", second.Address(), second.ByKey())
	}
	// The member leaves between the look at the cookie and the pick.
	p.Replace(epoch, members("b c"), "test")
	if l := pick(t, p, epoch, key, nil); l.ByKey() || l.Address() == first.Address() {
		t.Errorf("a member that is gone was picked: %s", l.Address())
	}
	if _, ok := p.TokenKey(epoch, []byte(first.Token())); ok {
		t.Error("the token of a member that is gone is good")
	}
}

func TestTokenKeyRefuses(t *testing.T) {
	p := newPool(t, "a", balance(Hash, ByCookie))
	good := pick(t, p, epoch, Key{}, nil).Token()
	if _, ok := p.TokenKey(epoch, []byte(good)); !ok {
		t.Fatal("a good token is refused")
	}
	for name, text := range map[string]string{
		"empty": "", "31 digits": good[:31], "33 digits": good + "0", "upper case": strings.ToUpper(good),
		"quoted": `"` + good + `"`, "quoted, 32 bytes": `"` + good[2:] + `"`, "no digit": good[:31] + "g", "slash": good[:31] + "/",
		"colon": good[:31] + ":", "backquote": good[:31] + "`", "nobody's": strings.Repeat("0", 32), "long": strings.Repeat("0", 8192),
	} {
		if k, ok := p.TokenKey(epoch, []byte(text)); ok || k != (Key{}) {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, ok := newPool(t, "a", nil).TokenKey(epoch, []byte(good)); ok {
		t.Error("a pool without cookies accepts a token")
	}
}

func TestTokenKeyAllocatesNothing(t *testing.T) {
	p := newPool(t, "a b", balance(Hash, ByCookie))
	text := []byte(pick(t, p, epoch, Key{}, nil).Token())
	if got := testing.AllocsPerRun(100, func() { p.TokenKey(epoch, text) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
