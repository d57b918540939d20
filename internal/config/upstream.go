package config

import (
	"fmt"
	"strconv"

	"github.com/scalws/scalws/pkg/lb"
)

// Bounds of a pool that the engine leaves open.
const (
	maxPools     = 10_000
	maxKeepalive = 10_000
	// DefaultKeepalive is how many idle connections are kept for each member, also of a single address.
	DefaultKeepalive = 32
)

// upstreamFields are the keys of a pool.
func upstreamFields(u *Upstream) []field {
	s := &u.Settings
	return []field{
		{name: "members", otherwise: "none", kind: members(&u.Members),
			meaning: "The members, in the order in which they are chosen first. For members_from: api only the first list."},
		{name: "members_from", def: "file", kind: scalar(&u.FromAPI, choice(option[bool]{"file", false}, option[bool]{"api", true})),
			meaning: "Who keeps the list: this file, or the admin API at run time."},
		{name: "balance", def: string(lb.RoundRobin), kind: scalar(&s.Balance, choice(texts(lb.RoundRobin, lb.LeastConn, lb.Hash)...)),
			meaning: "How a member is chosen."},
		{name: "hash", kind: section(hashFields(u)),
			meaning: "What balance: hash hashes; required there, without effect elsewhere."},
		{name: "passive_health", kind: section(healthFields(&s.Health)),
			meaning: "When a member is ejected."},
		{name: "retries", def: strconv.Itoa(lb.DefaultRetries), kind: scalar(&s.Retries, whole(0, lb.MaxRetries)),
			meaning: "How many more members a request may try; 0 never retries."},
		{name: "retry_budget", otherwise: "no bound", kind: pointer(&s.Budget, func(b *lb.RetryBudget) kind {
			return section(budgetFields(b))
		}), meaning: "Bounds the retries of the pool as a whole."},
		{name: "keepalive", def: strconv.Itoa(DefaultKeepalive), kind: scalar(&u.Keepalive, whole(0, maxKeepalive)),
			meaning: "Idle connections kept for each member; 0 keeps none."},
		{name: "scheme", def: "http", kind: scalar(&u.HTTPS, choice(option[bool]{"http", false}, option[bool]{"https", true})),
			meaning: "How members are talked to."},
		{name: "tls", kind: section(upstreamTLSFields(&u.TLS)),
			meaning: "How members are verified; only with scheme: https."},
		{name: "count_tunnels", def: "false", kind: scalar(&s.CountTunnels, truth()),
			meaning: "Counts a WebSocket tunnel as in flight for its whole life, not only for the handshake."},
	}
}

// members reads the entries. Whether they can be together in a pool is for the engine to say
// (checkMembers).
func members(to *[]lb.Member) kind {
	return list(to, 0, lb.MaxMembers, func(m *lb.Member) kind {
		return section(memberFields(m))
	})
}

func memberFields(m *lb.Member) []field {
	return []field{
		{name: "address", need: true, kind: scalar(&m.Address, memberAddress()),
			meaning: "ip:port, [ipv6]:port, host:port, or unix:/path as the single member of an http pool."},
		{name: "weight", def: strconv.Itoa(lb.DefaultWeight), kind: scalar(&m.Weight, whole(lb.MinWeight, lb.MaxWeight)),
			meaning: "Relative share of requests."},
	}
}

// memberAddress takes any text: [lb.CheckMembers] knows the rule.
func memberAddress() form[string] {
	return form[string]{wants: "an address", bound: "unique in the pool", parse: func(text string) (string, *fault) {
		return text, nil
	}}
}

func hashFields(u *Upstream) []field {
	h := &u.Settings.Hash
	return []field{
		{name: "by", need: true, kind: scalar(&h.By, choice(texts(lb.ByCookie, lb.ByHeader, lb.ByClientIP)...)),
			meaning: "What is hashed."},
		{name: "name", otherwise: lb.DefaultCookieName + " for a cookie, required for a header", kind: scalar(&h.Name, freeText()),
			meaning: "Name of the cookie or the header."},
		{name: "cookie_max_age", def: "0s", kind: scalar(&h.CookieMaxAge, seconds(0, maxCookieAge)),
			meaning: "Life of the affinity cookie; 0s is a session cookie."},
		{name: "key_file", otherwise: "a random key for each process", kind: namedFile(&u.HashKeyFile),
			meaning: "Secret for the values of the affinity cookie, 16 to 4096 bytes, so that they outlive a restart."},
	}
}

func healthFields(h *lb.HealthSettings) []field {
	return []field{
		{name: "failures", def: strconv.Itoa(lb.DefaultFailures), kind: scalar(&h.Failures, whole(0, lb.MaxFailures)),
			meaning: "Failures in a row before a member is ejected; 0 never ejects."},
		{name: "cooldown", def: formatDuration(lb.DefaultCooldown), kind: scalar(&h.Cooldown, duration(lb.MinCooldown, lb.MaxCooldown)),
			meaning: "How long it stays out."},
		{name: "probation_requests", def: strconv.Itoa(lb.DefaultProbationRequests), kind: scalar(&h.ProbationRequests, whole(0, lb.MaxProbationRequests)),
			meaning: "Requests that a member on probation may have in flight; 0 is no limit."},
	}
}

func budgetFields(b *lb.RetryBudget) []field {
	return []field{
		{name: "ratio", need: true, kind: scalar(&b.Ratio, fraction(0, 1)),
			meaning: "Retries for each first attempt: 0.2 lets one request in five be retried."},
		{name: "min_per_second", need: true, kind: scalar(&b.MinPerSecond, whole(0, lb.MaxMinPerSecond)),
			meaning: "Retries that are allowed whatever the ratio says."},
	}
}

func upstreamTLSFields(t *UpstreamTLS) []field {
	return []field{
		{name: "ca_file", otherwise: "the system's roots alone", kind: namedFile(&t.CAFile),
			meaning: "CA certificates to trust in addition to the system's roots, PEM."},
		{name: "server_name", otherwise: "the member's host", kind: scalar(&t.ServerName, hostName()),
			meaning: "SNI, and the name that the certificate must have."},
	}
}

// checkUpstream holds the settings of a pool against each other (docs/load-balancing.md).
func (d *decoder) checkUpstream(u *Upstream) {
	at := join("upstreams", u.Name)
	d.checkHash(at, u)
	d.checkMembers(at, u)

	tls, scheme := join(at, "tls"), join(at, "scheme")
	if d.given(tls) && !u.HTTPS && d.sound(scheme) {
		d.failKey(d.places[tls], &fault{code: codeTLSWithoutHTTPS, message: "tls is only allowed with scheme: https",
			hint: "add scheme: https, or remove tls"})
	}
	d.checkCA(join(tls, "ca_file"), u.TLS.CAFile)
}

// checkHash completes the hash settings. Where they have no effect they are reset, so that a pool does
// not differ by them.
func (d *decoder) checkHash(at string, u *Upstream) {
	h, hash, balance := &u.Settings.Hash, join(at, "hash"), join(at, "balance")
	by, name := join(hash, "by"), join(hash, "name")
	switch {
	case !d.sound(balance, hash, by, name):
		return
	case u.Settings.Balance != lb.Hash:
		if d.given(hash) {
			d.ignored(hash, "without balance: hash", "add balance: hash, or remove hash")
		}
		*h, u.HashKeyFile = lb.HashSettings{}, ""
		return
	case !d.given(hash):
		d.add(Error, d.places[balance].at(), by, &fault{code: codeMissingKey,
			message: "balance: hash needs hash.by", hint: "add hash: {by: cookie}, or by: header or client_ip"})
		return
	}

	switch h.By {
	case lb.ByCookie:
		if h.Name == "" {
			h.Name = lb.DefaultCookieName
		}
		if !isToken(h.Name) {
			d.failValue(d.places[name], &fault{code: codeInvalidCookieName,
				message: fmt.Sprintf("%q cannot be the name of a cookie", shorten(h.Name)), hint: tokenHint})
		}
		d.checkAffinityKey(join(hash, "key_file"), u.HashKeyFile)
		return
	case lb.ByHeader:
		if !d.given(name) {
			d.missing(d.places[hash], "name", "by: header needs the name of the header")
		} else if !isToken(h.Name) {
			d.failValue(d.places[name], &fault{code: codeInvalidHeaderName,
				message: fmt.Sprintf("%q cannot be the name of a header", shorten(h.Name)), hint: tokenHint})
		}
	case lb.ByClientIP:
		if d.given(name) {
			d.ignored(name, "with by: client_ip", "remove it")
		}
		h.Name = ""
	}
	for _, key := range []string{"cookie_max_age", "key_file"} {
		if d.given(join(hash, key)) {
			d.ignored(join(hash, key), "without by: cookie", "remove it")
		}
	}
	h.CookieMaxAge, u.HashKeyFile = 0, ""
}

const tokenHint = "it has letters, digits and !#$%&'*+-.^_`|~"

// checkMembers has the engine check the list, as it does for the admin API. It works in the places of
// the list, so that its complaints about entries that are broken already can be dropped.
func (d *decoder) checkMembers(at string, u *Upstream) {
	list := join(at, "members")
	if !d.sound("upstreams", at, list) {
		return
	}
	https := u.HTTPS && d.sound(join(at, "scheme"))
	canonical, problems := lb.CheckMembers(u.Members, https)
	for _, p := range problems {
		entry := list
		if p.Index >= 0 {
			entry = index(list, p.Index)
		}
		path := entry
		if p.Field != "" {
			path = join(entry, p.Field)
		}
		if d.sound(entry, path) {
			d.failValue(d.nearestPlace(path, entry), &fault{code: codeInvalidMember, message: p.Message})
		}
	}
	if len(problems) == 0 {
		u.Members = canonical
	}
	if len(u.Members) == 0 && !u.FromAPI && d.sound(join(at, "members_from")) {
		d.add(Warning, d.places[at].at(), list, &fault{code: codeNoMembers,
			message: "a pool without members answers every request with 503 and Retry-After: 1",
			hint:    "add members, or set members_from: api and set them at run time"})
	}
}

// nearestPlace is the first of the paths that was given, under the name of the first.
func (d *decoder) nearestPlace(paths ...string) value {
	for _, path := range paths {
		if v, ok := d.places[path]; ok {
			v.path = paths[0]
			return v
		}
	}
	return value{path: paths[0]}
}
