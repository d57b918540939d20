package sim

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// Bounds of a scenario. Together they keep a run within minutes and a few hundred megabytes.
const (
	maxDuration = 30 * 24 * time.Hour
	maxRate     = 1_000_000
	maxKeys     = 1_000_000
	maxRequests = 1_000_000_000
	maxFlights  = 2_000_000
	maxScript   = 10_000
	maxExpect   = 1_000
	maxTimeout  = time.Hour
)

// Defaults of a scenario, where they are not the engine's. The timeouts are those of
// server.upstream_client in the main configuration.
const (
	defaultSeed            = 1
	defaultKeys            = 1000
	defaultLatency         = 10 * time.Millisecond
	defaultRefusal         = time.Millisecond
	defaultConnectTimeout  = 5 * time.Second
	defaultResponseTimeout = time.Minute
)

// Scenario is a pool, its load, what goes wrong and what is expected of it (docs/simulation.md). It is
// checked and never changes; it may be run any number of times.
type Scenario struct {
	name     string
	seed     uint64
	duration time.Duration
	load     load
	pool     lb.Settings
	members  []server
	timeouts timeouts
	// script is in the order of time.
	script []step
	expect []expectation
	// names are the members of all lists: addresses, and hosts that only one address has; a host that
	// several have is there without an address.
	names map[string]string
}

// timeouts of each attempt.
type timeouts struct{ connect, response time.Duration }

// server is an entry of a member list.
type server struct {
	lb.Member
	// latency from sending a request to the answer; negative: as before, or the default.
	latency time.Duration
}

// listOf is the list as the engine takes it.
func listOf(servers []server) []lb.Member {
	list := make([]lb.Member, len(servers))
	for i, s := range servers {
		list[i] = s.Member
	}
	return list
}

// step is one entry of the script: a member's behaviour, another list, or another rate.
type step struct {
	at        time.Duration
	member    string
	behaviour behaviour
	// replace says that members is the new list, which may be empty.
	replace bool
	members []server
	// rate in thousandths of a request a second; 0 leaves it.
	rate int64
}

// Parse checks a text. The file gives problems and the report their name; it is not read. The error is
// [strict.Problems].
func Parse(file string, text []byte) (*Scenario, error) {
	s := &Scenario{
		name: filepath.Base(file),
		seed: defaultSeed,
		pool: lb.DefaultSettings(),
		load: load{keys: defaultKeys, arrival: constant},
		timeouts: timeouts{
			connect:  defaultConnectTimeout,
			response: defaultResponseTimeout,
		},
	}
	problems := strict.Decode(file, text, strict.Format{Name: "scenario", Least: "the smallest one has schema, duration, load and pool"},
		scenarioFields(s), func(d *strict.Decoder) { (&checker{Decoder: d, Scenario: s}).check() })
	if problems.Failed() {
		return nil, problems
	}
	return s, nil
}

// nameMembers collects the names of the members of all lists.
func (s *Scenario) nameMembers() {
	hosts := make(map[string]string)
	s.names = make(map[string]string)
	add := func(servers []server) {
		for _, m := range servers {
			s.names[m.Address] = m.Address
			if i := strings.LastIndexByte(m.Address, ':'); i > 0 && !lb.IsUnix(m.Address) {
				host := m.Address[:i]
				if before, ok := hosts[host]; ok && before != m.Address {
					hosts[host] = ""
					continue
				}
				hosts[host] = m.Address
			}
		}
	}
	add(s.members)
	for _, e := range s.script {
		add(e.members)
	}
	for host, address := range hosts {
		s.names[host] = address
	}
}

// size is how many requests there will be, and the most that can be in flight at once. The script is in
// order.
func (s *Scenario) size() (requests, flights float64) {
	rate, most, since := s.load.rate, s.load.rate, time.Duration(0)
	longest := min(defaultLatency, s.timeouts.response)
	servers := func(list []server) {
		for _, m := range list {
			longest = max(longest, min(m.latency, s.timeouts.response))
		}
	}
	servers(s.members)
	for _, e := range s.script {
		if e.rate > 0 {
			requests += (e.at - since).Seconds() * float64(rate) / 1000
			rate, since = e.rate, e.at
			most = max(most, rate)
		}
		longest = max(longest, e.behaviour.longest(s.timeouts))
		servers(e.members)
	}
	requests += (s.duration - since).Seconds() * float64(rate) / 1000
	return requests, float64(most) / 1000 * longest.Seconds() * float64(1+s.pool.Retries)
}
