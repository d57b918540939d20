package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// Bounds of a pool that the engine leaves open.
const (
	maxPools     = 10_000
	maxKeepalive = 10_000
	// DefaultKeepalive is how many idle connections are kept for each member, also of a single address.
	DefaultKeepalive = 32
)

// freshUpstream is a pool before it is read.
func freshUpstream(name string) Upstream { return Upstream{Name: name, Settings: lb.DefaultSettings()} }

func upstreamName(u *Upstream) string { return u.Name }

// upstreamFields are the keys of a pool.
func upstreamFields(u *Upstream) []strict.Field {
	s := &u.Settings
	return []strict.Field{
		{Name: "members", Otherwise: "none", Kind: members(&u.Members),
			Meaning: "The members, in the order in which they are chosen first. For members_from: api only the first list."},
		{Name: "members_from", Def: "file", Kind: strict.Scalar(&u.FromAPI, strict.Either("file", "api")),
			Meaning: "Who keeps the list: this file, or the admin API at run time."},
		{Name: "balance", Def: string(lb.RoundRobin), Kind: strict.Scalar(&s.Balance, strict.Choice(lb.RoundRobin, lb.LeastConn, lb.Hash)),
			Meaning: "How a member is chosen."},
		{Name: "hash", Kind: strict.Section(hashFields(u)).Also(hashRules()...),
			Meaning: "What balance: hash hashes; required there, without effect elsewhere."},
		{Name: "passive_health", Kind: strict.Section(healthFields(&s.Health)),
			Meaning: "When a member is ejected."},
		{Name: "retries", Def: strconv.Itoa(lb.DefaultRetries), Kind: strict.Scalar(&s.Retries, strict.Whole(0, lb.MaxRetries)),
			Meaning: "How many more members a request may try; 0 never retries."},
		{Name: "retry_budget", Otherwise: "no bound", Kind: strict.Pointer(&s.Budget, func(b *lb.RetryBudget) strict.Kind {
			return strict.Section(budgetFields(b))
		}), Meaning: "Bounds the retries of the pool as a whole."},
		{Name: "keepalive", Def: strconv.Itoa(DefaultKeepalive), Kind: strict.Scalar(&u.Keepalive, strict.Whole(0, maxKeepalive)),
			Meaning: "Idle connections kept for each member; 0 keeps none."},
		{Name: "scheme", Def: "http", Kind: strict.Scalar(&u.HTTPS, strict.Either("http", "https")),
			Meaning: "How members are talked to."},
		{Name: "tls", Kind: strict.Section(upstreamTLSFields(&u.TLS)),
			Meaning: "How members are verified; only with scheme: https."},
		{Name: "count_tunnels", Def: "false", Kind: strict.Scalar(&s.CountTunnels, strict.Truth()),
			Meaning: "Counts a WebSocket tunnel as in flight for its whole life, not only for the handshake."},
	}
}

// members reads the entries. What an address is, and whether they can be together in a pool, is for the
// engine to say (checkMembers).
func members(to *[]lb.Member) strict.Kind {
	return strict.List(to, 0, lb.MaxMembers, func(m *lb.Member) strict.Kind {
		return strict.Section(memberFields(m))
	})
}

// memberAddress takes every text: what an address is, the engine says.
func memberAddress() strict.Form[string] {
	form := strict.AnyText("an address", "unique in the pool")
	form.Schema = strict.Pattern("^(" + unixPath + "|" + hostAndPort + ")$")
	return form
}

func memberFields(m *lb.Member) []strict.Field {
	return []strict.Field{
		{Name: "address", Need: true, Kind: strict.Scalar(&m.Address, memberAddress()),
			Meaning: "ip:port, [ipv6]:port, host:port, or unix:/path as the single member of an http pool."},
		{Name: "weight", Def: strconv.Itoa(lb.DefaultWeight), Kind: strict.Scalar(&m.Weight, strict.Whole(lb.MinWeight, lb.MaxWeight)),
			Meaning: "Relative share of requests."},
	}
}

// seconds is a duration that ends up in a field that counts whole seconds.
func seconds(low, high time.Duration) strict.Form[time.Duration] {
	f := strict.Duration(low, high)
	f.Bound += ", whole seconds"
	parse := f.Parse
	f.Parse = func(text string) (time.Duration, *strict.Fault) {
		d, fault := parse(text)
		if fault == nil && d%time.Second != 0 {
			fault = &strict.Fault{Code: strict.CodeOutOfRange, Message: "must be whole seconds", Hint: "the field counts in seconds"}
		}
		return d, fault
	}
	return f
}

func hashFields(u *Upstream) []strict.Field {
	h := &u.Settings.Hash
	return []strict.Field{
		{Name: "by", Need: true, Kind: strict.Scalar(&h.By, strict.Choice(lb.ByCookie, lb.ByHeader, lb.ByClientIP)),
			Meaning: "What is hashed."},
		{Name: "name", Otherwise: lb.DefaultCookieName + " for a cookie, required for a header", Kind: strict.Scalar(&h.Name, strict.Text()),
			Meaning: "Name of the cookie or the header."},
		{Name: "cookie_max_age", Def: "0s", Kind: strict.Scalar(&h.CookieMaxAge, seconds(0, maxCookieAge)).Only(func() bool { return h.By == lb.ByCookie }),
			Meaning: "Life of the affinity cookie; 0s is a session cookie."},
		{Name: "key_file", Otherwise: "a random key for each process", Kind: namedFile(&u.HashKeyFile),
			Meaning: "Secret for the values of the affinity cookie, 16 to 4096 bytes, so that they outlive a restart."},
	}
}

func healthFields(h *lb.HealthSettings) []strict.Field {
	return []strict.Field{
		{Name: "failures", Def: strconv.Itoa(lb.DefaultFailures), Kind: strict.Scalar(&h.Failures, strict.Whole(0, lb.MaxFailures)),
			Meaning: "Failures in a row before a member is ejected; 0 never ejects."},
		{Name: "cooldown", Def: strict.FormatDuration(lb.DefaultCooldown), Kind: strict.Scalar(&h.Cooldown, strict.Duration(lb.MinCooldown, lb.MaxCooldown)),
			Meaning: "How long it stays out."},
		{Name: "probation_requests", Def: strconv.Itoa(lb.DefaultProbationRequests), Kind: strict.Scalar(&h.ProbationRequests, strict.Whole(0, lb.MaxProbationRequests)),
			Meaning: "Requests that a member on probation may have in flight; 0 is no limit."},
	}
}

func budgetFields(b *lb.RetryBudget) []strict.Field {
	return []strict.Field{
		{Name: "ratio", Need: true, Kind: strict.Scalar(&b.Ratio, strict.Fraction(0, 1)),
			Meaning: "Retries for each first attempt: 0.2 lets one request in five be retried."},
		{Name: "min_per_second", Need: true, Kind: strict.Scalar(&b.MinPerSecond, strict.Whole(0, lb.MaxMinPerSecond)),
			Meaning: "Retries that are allowed whatever the ratio says."},
	}
}

func upstreamTLSFields(t *UpstreamTLS) []strict.Field {
	return []strict.Field{
		{Name: "ca_file", Otherwise: "the system's roots alone", Kind: namedFile(&t.CAFile),
			Meaning: "CA certificates to trust in addition to the system's roots, PEM."},
		{Name: "server_name", Otherwise: "the member's host", Kind: strict.Scalar(&t.ServerName, hostName()),
			Meaning: "SNI, and the name that the certificate must have."},
	}
}

// checkUpstream holds the settings of a pool against each other (docs/load-balancing.md).
func (d checker) checkUpstream(u *Upstream) {
	at := strict.Join("upstreams", u.Name)
	d.checkHash(at, u)
	d.checkMembers(at, u)

	tls, scheme := strict.Join(at, "tls"), strict.Join(at, "scheme")
	if d.Given(tls) && !u.HTTPS && d.Sound(scheme) {
		d.FailKey(d.Place(tls), &strict.Fault{Code: codeTLSWithoutHTTPS, Message: "tls is only allowed with scheme: https",
			Hint: "add scheme: https, or remove tls"})
	}
	d.checkCA(strict.Join(tls, "ca_file"), u.TLS.CAFile)
}

// checkHash completes the hash settings. Where they have no effect they are reset, so that a pool does
// not differ by them.
func (d checker) checkHash(at string, u *Upstream) {
	h, hash, balance := &u.Settings.Hash, strict.Join(at, "hash"), strict.Join(at, "balance")
	by, name := strict.Join(hash, "by"), strict.Join(hash, "name")
	switch {
	case !d.Sound(balance, hash, by, name):
		return
	case u.Settings.Balance != lb.Hash:
		if d.Given(hash) {
			d.ignored(hash, "without balance: hash", "add balance: hash, or remove hash")
		}
		*h, u.HashKeyFile = lb.HashSettings{}, ""
		return
	case !d.Given(hash):
		d.FailKey(d.Place(balance).As(by), &strict.Fault{Code: strict.CodeMissingKey,
			Message: "balance: hash needs hash.by", Hint: "add hash: {by: cookie}, or by: header or client_ip"})
		return
	}

	switch h.By {
	case lb.ByCookie:
		if h.Name == "" {
			h.Name = lb.DefaultCookieName
		}
		if !isToken(h.Name) {
			d.FailValue(d.Place(name), &strict.Fault{Code: codeInvalidCookieName,
				Message: fmt.Sprintf("%q cannot be the name of a cookie", strict.Shorten(h.Name)), Hint: tokenHint})
		}
		d.checkAffinityKey(strict.Join(hash, "key_file"), u.HashKeyFile)
		return
	case lb.ByHeader:
		d.checkHeaderName(hash, name, h.Name)
	case lb.ByClientIP:
		if d.Given(name) {
			d.ignored(name, "with by: client_ip", "remove it")
		}
		h.Name = ""
	}
	for _, key := range []string{"cookie_max_age", "key_file"} {
		if d.Given(strict.Join(hash, key)) {
			d.ignored(strict.Join(hash, key), "without by: cookie", "remove it")
		}
	}
	h.CookieMaxAge, u.HashKeyFile = 0, ""
}

// checkHeaderName checks the name of the header that the section at path counts or hashes by.
func (d checker) checkHeaderName(section, path, name string) {
	if !d.Given(path) {
		_, key, _ := strings.Cut(path, section+".")
		d.Missing(d.Place(section), key, "by: header needs the name of the header")
	} else if !isToken(name) {
		d.FailValue(d.Place(path), &strict.Fault{Code: codeInvalidHeaderName,
			Message: fmt.Sprintf("%q cannot be the name of a header", strict.Shorten(name)), Hint: tokenHint})
	}
}

const tokenHint = "it has letters, digits and !#$%&'*+-.^_`|~"

// checkMembers has the engine check the list, as it does for the admin API. It works in the places of
// the list, so that its complaints about entries that are broken already can be dropped.
func (d checker) checkMembers(at string, u *Upstream) {
	list := strict.Join(at, "members")
	if !d.Sound("upstreams", at, list) {
		return
	}
	https := u.HTTPS && d.Sound(strict.Join(at, "scheme"))
	canonical, problems := lb.CheckMembers(u.Members, https)
	for _, p := range problems {
		d.FailEntry(list, p.Index, p.Field, &strict.Fault{Code: codeInvalidMember, Message: p.Message})
	}
	if len(problems) == 0 {
		u.Members = canonical
	}
	if len(u.Members) == 0 && !u.FromAPI && d.Sound(strict.Join(at, "members_from")) {
		d.WarnKey(d.Place(at).As(list), &strict.Fault{Code: codeNoMembers,
			Message: "a pool without members answers every request with 503 and Retry-After: 1",
			Hint:    "add members, or set members_from: api and set them at run time"})
	}
}
