package sim

import (
	"fmt"
	"testing"
)

// BenchmarkDay is a day of traffic: 34,560,000 requests to four members.
func BenchmarkDay(b *testing.B) {
	for _, test := range []struct{ name, load, pool string }{
		{"round_robin", "rate: 400", ""},
		{"least_conn", "rate: 400, arrival: poisson", "balance: least_conn, "},
		{"hash", "rate: 400, arrival: poisson, keys: 10000", "balance: hash, hash: {by: client_ip}, "},
		{"hanging", "rate: 400, arrival: poisson", ""},
	} {
		b.Run(test.name, func(b *testing.B) {
			events := ""
			if test.name == "hanging" {
				events = `
timeouts: {response: 5s}
events: [{at: 1h, member: "a:1", does: hang}, {at: 23h, member: "a:1", does: recover}]`
			}
			s, err := Parse("day.yaml", fmt.Appendf(nil, `schema: scalws.scenario/1
duration: 1d
load: {%s}
pool: {%smembers: [{address: "a:1"}, {address: "b:1"}, {address: "c:1"}, {address: "d:1"}]}%s
`, test.load, test.pool, events))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			var requests uint64
			for b.Loop() {
				requests += runScenario(b, s).Clients.Requests
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(requests), "ns/request")
		})
	}
}
