package server_test

import (
	"testing"

	"github.com/scalws/scalws/internal/servertest"
)

// everyPolicy has each policy that lets a request pass.
func everyPolicy(t testing.TB, member string) servertest.Setup {
	t.Helper()
	return application(t, member,
		key("deny: [192.0.2.0/24]"), key("allow: [127.0.0.0/8]"), key("redirect: {to: \"http://example.com{path}{query}\"}"),
		key("cors: {origins: [\"https://a.example\"]}"), key("basic_auth: {htpasswd_file: "+usersFile(t, users(t, "alice", "sesame"))+"}"),
		key("rewrite: {strip_prefix: /index.html, add_prefix: /start, host: internal.example}"),
		key("headers: {request: {remove: [Cookie]}, response: {set: [{name: X-Front, value: here}]}}"), key("routes:"),
		key("  - {path: /index, runtime: {type: proxy, upstream: {pool: p}}}"),
		key("  - {path: /, methods: [GET], match_headers: [{name: User-Agent, regex: \"test/.*\"}], runtime: {type: proxy, upstream: {pool: p}}}"),
	)
}

// With all of them a request allocates nothing either.
func TestSteadyStateWithPoliciesAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop buffers at random")
	}
	d := servertest.Start(t, everyPolicy(t, quietMember(t)))
	once := quietClient(t, d.Address, basic("alice:sesame"), "Origin: https://a.example")
	for range 100 {
		once()
	}
	if n := testing.AllocsPerRun(2000, once); n != 0 {
		t.Errorf("%v allocations a request, want 0", n)
	}
}

// BenchmarkRequestWithPolicies is BenchmarkRequest with every policy.
func BenchmarkRequestWithPolicies(b *testing.B) {
	d := servertest.Start(b, everyPolicy(b, quietMember(b)))
	once := quietClient(b, d.Address, basic("alice:sesame"), "Origin: https://a.example")
	b.ReportAllocs()
	for b.Loop() {
		once()
	}
}
