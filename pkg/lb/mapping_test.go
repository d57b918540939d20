package lb

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// mapped is the member of a key.
func mapped(p *Pool, key Key) string {
	l, ok := p.Pick(epoch, key, nil)
	if !ok {
		return ""
	}
	l.Done(epoch, Neutral())
	return l.Address()
}

// TestMappingGolden fixes the mapping for ever: whoever runs two versions side by side, or on two
// architectures, counts on it. A change of this file is a change of mappingVersion.
func TestMappingGolden(t *testing.T) {
	const file = "testdata/mapping.golden"
	lists := []string{
		"a b c",
		"a:1 b:2 c:5 d:1000",
		"n1:7 n2:7 n3:7 n4:7 n5:7 n6:3 n7:3 n8:3 n9:3 n10:100 n11:99",
	}
	var b strings.Builder
	for _, list := range lists {
		header := newPool(t, list, balance(Hash, ByHeader))
		client := newPool(t, list, balance(Hash, ByClientIP))
		fmt.Fprintf(&b, "list %s\nfingerprint header %s client_ip %s\n", list, header.Fingerprint(), client.Fingerprint())
		for n := range 24 {
			text := strings.Repeat("key-", n/3) + fmt.Sprint(n)
			fmt.Fprintf(&b, "header %s %016x %s\n", text, TextKey([]byte(text)).hash, mapped(header, TextKey([]byte(text))))
		}
		for _, text := range []string{"192.0.2.1", "192.0.2.2", "198.51.100.77", "0.0.0.0", "2001:db8::1", "2001:db8::2", "::"} {
			key := AddrKey(netip.MustParseAddr(text))
			fmt.Fprintf(&b, "client %s %016x %s\n", text, key.hash, mapped(client, key))
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := bufio.NewScanner(strings.NewReader(b.String()))
	for line := range strings.Lines(string(want)) {
		if !got.Scan() || got.Text() != strings.TrimSuffix(line, "\n") {
			t.Fatalf("got  %s\nwant %s", got.Text(), line)
		}
	}
	if got.Scan() {
		t.Errorf("more than the golden file: %s", got.Text())
	}
}

// chiSquare is the statistic of counts against weights, and a bound that it exceeds once in a million
// times (Wilson and Hilferty's approximation).
func chiSquare(counts map[string]int, list []Member) (statistic, bound float64) {
	total, weights := 0.0, 0.0
	for _, m := range list {
		total += float64(counts[m.Address])
		weights += float64(m.Weight)
	}
	for _, m := range list {
		expected := total * float64(m.Weight) / weights
		statistic += math.Pow(float64(counts[m.Address])-expected, 2) / expected
	}
	k := float64(len(list) - 1)
	return statistic, k * math.Pow(1-2/(9*k)+4.7534*math.Sqrt(2/(9*k)), 3)
}

func TestSharesMatchWeights(t *testing.T) {
	keys := 1_000_000
	if testing.Short() {
		keys = 100_000
	}
	lists := map[string][]Member{
		"equal":    members("a b c d e f g h"),
		"1:2:5:1k": members("a:1 b:2 c:5 d:1000"),
		"10:9":     members("a:10 b:9"),
		"hundred":  listOf(100, 5),
	}
	kinds := map[string]func(i int) Key{
		"numbers": numberKey,
		"text":    func(i int) Key { return TextKey(fmt.Appendf(nil, "user-%d", i)) },
		"clients": func(i int) Key {
			return AddrKey(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
		},
	}
	for name, list := range lists {
		for kind, key := range kinds {
			t.Run(name+"/"+kind, func(t *testing.T) {
				m := benchPool(t, Hash, ByHeader, list).roster.Load().mapping
				counts := map[string]int{}
				for i := range keys {
					counts[m.members[m.owner(key(i).hash)].address]++
				}
				if got, bound := chiSquare(counts, list); got > bound {
					t.Errorf("chi-square %.1f, at most %.1f: %v", got, bound, counts)
				}
			})
		}
	}
}

// TestOnlyTheKeysOfTheChangedMove: a list differs from another by one member that came, went or got
// another weight, or only by its order.
func TestOnlyTheKeysOfTheChangedMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := listGen(10).Filter(func(l []Member) bool { return len(l) > 1 }).Draw(t, "list")
		next := slices.Clone(list)
		at := rapid.IntRange(0, len(list)-1).Draw(t, "at")
		changed := list[at].Address
		more, less := false, false
		switch rapid.SampledFrom([]string{"remove", "add", "weigh", "order"}).Draw(t, "change") {
		case "remove":
			next, less = slices.Delete(next, at, at+1), true
		case "add":
			changed, more = "new:80", true
			next = slices.Insert(next, at, Member{Address: changed, Weight: rapid.IntRange(1, 1000).Draw(t, "weight")})
		case "weigh":
			w := rapid.IntRange(1, 1000).Draw(t, "weight")
			more, less = w > next[at].Weight, w < next[at].Weight
			next[at].Weight = w
		default:
			slices.Reverse(next)
		}
		before, after := mappingOf(t, list), mappingOf(t, next)
		for n := range 300 {
			key := mix(uint64(n))
			from, to := before.address(key, everybody), after.address(key, everybody)
			switch {
			case from == to:
			case more && to == changed:
			case less && from == changed:
			default:
				t.Fatalf("key %d moved from %s to %s, %s changed (more %v, less %v)", n, from, to, changed, more, less)
			}
		}
	})
}

func mappingOf(t *rapid.T, list []Member) *mapping {
	s := DefaultSettings()
	s.Balance, s.Hash.By = Hash, ByHeader
	p, err := NewPool(Options{Settings: s, Members: list, Now: epoch})
	if err != nil {
		t.Fatal(err)
	}
	return p.roster.Load().mapping
}

// TestEjectionMovesOnlyItsKeys, and they come home afterwards; with few members and with enough for the
// memory of keys to play a part.
func TestEjectionMovesOnlyItsKeys(t *testing.T) {
	for _, n := range []int{5, 60} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			p := newPool(t, "", func(o *Options) {
				o.Settings.Balance, o.Settings.Hash.By, o.Settings.Health.Failures = Hash, ByHeader, 1
				o.Members = listOf(n, 3)
			})
			home := map[int]string{}
			for k := range 2000 {
				home[k] = mapped(p, numberKey(k))
			}
			l := pick(t, p, epoch, numberKey(7), nil)
			l.Done(epoch, Failure(Reset))
			away := map[int]string{}
			for range 2 {
				for k := range 2000 {
					got := mapped(p, numberKey(k))
					if (got != home[k]) != (home[k] == l.Address()) {
						t.Fatalf("%s is ejected, and key %d moved from %s to %s", l.Address(), k, home[k], got)
					}
					if before, ok := away[k]; ok && before != got {
						t.Fatalf("key %d went to %s, then to %s", k, before, got)
					}
					away[k] = got
				}
			}
			back := after(DefaultCooldown)
			pick(t, p, back, numberKey(7), nil).Done(back, Success())
			for k := range 2000 {
				if got := mapped(p, numberKey(k)); got != home[k] {
					t.Fatalf("key %d is at %s, not home at %s", k, got, home[k])
				}
			}
		})
	}
}

// TestRememberedKeys: a pool that remembers answers like one that computes, whatever was asked before.
func TestRememberedKeys(t *testing.T) {
	p := benchPool(t, Hash, ByHeader, listOf(9, 4))
	m := p.roster.Load().mapping
	slots := len(p.roster.Load().winners.slots)
	if slots == 0 {
		t.Fatal("nothing is remembered")
	}
	for n := range 5000 {
		// Keys that share slots.
		key := Key{kind: hashKey, hash: mix(uint64(n%13))<<16 | uint64(n%3)}
		l := pick(t, p, epoch, key, nil)
		if want := m.address(key.hash, everybody); l.Address() != want || !l.ByKey() {
			t.Fatalf("request %d: %s, want %s", n, l.Address(), want)
		}
		l.Done(epoch, Success())
	}
}

func TestRetriesOfAKeyFollowTheMapping(t *testing.T) {
	p := benchPool(t, Hash, ByHeader, listOf(40, 3))
	m := p.roster.Load().mapping
	for k := range 200 {
		var tried, model Tried
		for range 1 + MaxRetries {
			want := m.heir(numberKey(k).hash, at0, &model)
			l := pick(t, p, epoch, numberKey(k), &tried)
			if l.Address() != m.members[want].address || !l.ByKey() {
				t.Fatalf("key %d: %s, want %s", k, l.Address(), m.members[want].address)
			}
			model.add(m.members[want])
			l.Done(epoch, Neutral())
		}
	}
}

// TestDetoursFollowTheMapping: members fail and return all the time, and every attempt of every request
// goes where the mapping says, whatever the pool remembers.
func TestDetoursFollowTheMapping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := DefaultSettings()
		s.Balance, s.Hash.By, s.Health = Hash, ByHeader, HealthSettings{Failures: 1, Cooldown: 10 * MinCooldown}
		p, err := NewPool(Options{Settings: s, Members: listOf(12, 2), Now: epoch})
		if err != nil {
			t.Fatal(err)
		}
		m, now := p.roster.Load().mapping, epoch
		for range 60 {
			key := numberKey(rapid.IntRange(0, 3).Draw(t, "key"))
			var tried Tried
			for range rapid.IntRange(1, 3).Draw(t, "attempts") {
				want := m.heir(key.hash, p.at(now), &tried)
				l, ok := p.Pick(now, key, &tried)
				if want != none && l.Address() != m.members[want].address {
					t.Fatalf("picked %s, want %s", l.Address(), m.members[want].address)
				}
				if !ok {
					break
				}
				l.Done(now, outcomeGen.Draw(t, "outcome"))
			}
			now = now.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "ms")) * time.Millisecond)
		}
	})
}

// at0 is the epoch on the pool's clock.
const at0 = 0

func TestKeys(t *testing.T) {
	addr := netip.MustParseAddr
	if AddrKey(addr("::ffff:192.0.2.1")) != AddrKey(addr("192.0.2.1")) {
		t.Error("an IPv4-mapped address has a key of its own")
	}
	if AddrKey(addr("fe80::1%eth0")) != AddrKey(addr("fe80::1%eth1")) {
		t.Error("a zone counts")
	}
	if AddrKey(addr("::")) == AddrKey(addr("0.0.0.0")) || AddrKey(addr("::1")) == AddrKey(addr("::2")) {
		t.Error("different addresses have one key")
	}
	if AddrKey(netip.Addr{}) != (Key{}) || TextKey(nil) != (Key{}) || TextKey([]byte{}) != (Key{}) {
		t.Error("nothing has a key")
	}
	seen := map[uint64]string{}
	for n := range 40 {
		for _, text := range []string{strings.Repeat("\x00", n+1), strings.Repeat("a", n+1)} {
			k := TextKey([]byte(text))
			if other, ok := seen[k.hash]; ok || k.kind != hashKey {
				t.Errorf("%q and %q have one key", text, other)
			}
			seen[k.hash] = text
		}
	}
}

// TestKeylessRequestsGoRound: without the header, without an address, and for keys that the pool does not
// hash.
func TestKeylessRequestsGoRound(t *testing.T) {
	for name, p := range map[string]*Pool{
		"header":      newPool(t, "a:5 b c", balance(Hash, ByHeader)),
		"cookie":      newPool(t, "a:5 b c", balance(Hash, ByCookie)),
		"round_robin": newPool(t, "a:5 b c", nil),
	} {
		var names []string
		for range 7 {
			key := TextKey([]byte("k"))
			if name == "header" {
				key = Key{}
			}
			l := pick(t, p, epoch, key, nil)
			if l.ByKey() {
				t.Errorf("%s: the key decided", name)
			}
			names = append(names, short(l.Address()))
		}
		if got, want := strings.Join(names, " "), "a a b a c a a"; got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	base := newPool(t, "a:2 b", balance(Hash, ByHeader)).Fingerprint()
	same := newPool(t, "b a:2", balance(Hash, ByHeader))
	if len(base) != 16 || same.Fingerprint() != base || same.Status(epoch).Fingerprint != base {
		t.Errorf("%q and, in another order, %q", base, same.Fingerprint())
	}
	for name, p := range map[string]*Pool{
		"weight":    newPool(t, "a:3 b", balance(Hash, ByHeader)),
		"member":    newPool(t, "a:2 b c", balance(Hash, ByHeader)),
		"client_ip": newPool(t, "a:2 b", balance(Hash, ByClientIP)),
		"name":      newPool(t, "a:2 b", with(func(s *Settings) { s.Balance, s.Hash = Hash, HashSettings{By: ByHeader, Name: "X"} })),
	} {
		if p.Fingerprint() == base {
			t.Errorf("another %s, the same fingerprint", name)
		}
	}
	upper := newPool(t, "a", with(func(s *Settings) { s.Balance, s.Hash = Hash, HashSettings{By: ByHeader, Name: "X-User"} }))
	lower := newPool(t, "a", with(func(s *Settings) { s.Balance, s.Hash = Hash, HashSettings{By: ByHeader, Name: "x-user"} }))
	if upper.Fingerprint() != lower.Fingerprint() {
		t.Error("the case of a header's name counts")
	}
	for _, edit := range []func(*Options){nil, balance(LeastConn, ""), balance(Hash, ByCookie)} {
		if got := newPool(t, "a", edit).Fingerprint(); got != "" {
			t.Errorf("a pool without mapping has the fingerprint %s", got)
		}
	}
}
