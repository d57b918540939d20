package main

import "fmt"

// parts asks the page's own modules, in the page, where the answer is known.
func (v *visit) parts() error {
	const modules = `window.parts = (async () => {
		const from = $("script[type=module]").src;
		const all = {};
		for (const name of ["choice", "clock", "format", "metrics", "plot", "series"]) Object.assign(all, await import(new URL(name + ".js", from)));
		return all;
	})().then((all) => Object.assign(window, all)).then(() => true)`
	if _, err := eval[bool](v.page, modules); err != nil {
		return err
	}
	for _, part := range []struct{ what, is, want string }{
		{"attempts are summed up by pool and member, labels in any order",
			`(({attempts, members}) => [attempts, members.get("b:1")])(parseMetrics(` + "`" +
				`# HELP scalws_upstream_requests_total Attempts.
scalws_upstream_requests_total{class="2xx",member="a:1",pool="p"} 7
scalws_upstream_requests_total{pool="p",class="5xx",member="a:1"} 2
scalws_upstream_requests_total{class="error",member="b:1",pool="p"} 1e+03
` + "`" + `).get("p"))`, `[{"total":1009,"failed":1002},{"total":1000,"failed":1000}]`},
		{"escapes in labels are read",
			`[...parseMetrics('scalws_upstream_pool_retries_total{pool="a\\"b\\\\"} 3\n')].map(([name, p]) => [name, p.retries])`, `[["a\"b\\",3]]`},
		{"a pool without attempts by member has none",
			`parseMetrics('scalws_upstream_request_duration_seconds_count{pool="p"} 3').get("p").attempts`, `null`},
		{"a quantile lies inside its bucket",
			`quantile(.5, [[1, 0], [2, 0], [Infinity, 0]], [[1, 10], [2, 20], [Infinity, 20]])`, `1`},
		{"a quantile of what has grown",
			`quantile(.5, [[1, 90], [2, 90], [Infinity, 90]], [[1, 90], [2, 100], [Infinity, 100]])`, `1.5`},
		{"a quantile without requests is not known",
			`Number.isNaN(quantile(.5, [[1, 5], [Infinity, 5]], [[1, 5], [Infinity, 5]]))`, `true`},
		{"a rate needs two readings, and survives a restart",
			`((r) => [[1, 0, 10], [2, 1000, 30], [3, 3000, 70], [4, 4000, 5]].map((a) => (r.read(...a), r.now())))(new Rate())`, `[null,20,20,5]`},
		{"a series forgets what is too old",
			`((s) => (s.set(0, 1), s.set(500, 2), [s.at(0), s.at(499), s.at(500), s.at(501)]))(new Series())`, `[null,null,2,null]`},
		{"a clock that is an hour ahead is seen through",
			`((c) => { const skew = 3600e3; for (let i = 0; i < 40; i++) { const sent = 1e12 + i * 1037; c.learn(new Date(Math.floor((sent + 5 + skew) / 1000) * 1000).toUTCString(), sent, sent + 10); } return Math.abs(c.now() - Date.now() - skew) < 60; })(new Clock())`, `true`},
		{"a clock that is set is seen through again",
			`((c) => { c.learn(new Date(1e12).toUTCString(), 1e12, 1e12); c.learn(new Date(1e12).toUTCString(), 2e12, 2e12); return Math.abs(c.now() - Date.now() + 1e12) <= 500; })(new Clock())`, `true`},
		{"an answer without a date teaches nothing",
			`((c) => { c.learn(null, 0, 0); return Math.abs(c.now() - Date.now()) < 60; })(new Clock())`, `true`},
		{"durations of the API", `["10s", "1m30s", "500ms", "1h"].map(parseDuration)`, `[10,90,0.5,3600]`},
		{"countdowns", `[7.24, 42.4, 185, 3720, -1].map(seconds)`, `["7.2 s","42 s","3 min 05 s","1 h 02 min","0.0 s"]`},
		{"rates", `[0, 0.01, 1.25, 42.4, 1234.5, NaN].map(rate)`, `["0","<0.1","1.3","42","1,235","–"]`},
		{"scales end with a round number", `[0, 1, 7, 11, 119, 301, 8000].map(round)`, `[1,1,8,20,200,400,8000]`},
		{"the choice goes into the address and back",
			`((c) => (c.read("#pool=a%26b&state=up&text=x+y&sort=-weight"), [c.pool, c.state, c.text, c.sort, c.reversed, c.write()]))(new Choice())`,
			`["a&b","up","x y","weight",true,"#pool=a%26b&state=up&text=x+y&sort=-weight"]`},
		{"an address that means nothing chooses nothing",
			`((c) => (c.read("#state=none&sort=constructor"), [c.state, c.sort]))(new Choice())`, `["",""]`},
		{"members are sorted by numbers in their addresses",
			`((c) => (c.sort = "member", c.apply(["b:1", "a:10", "a:9"].map((address) => ({ address, pool: {}, lastFailure: "" }))).map((m) => m.address)))(new Choice())`,
			`["a:9","a:10","b:1"]`},
	} {
		got, err := eval[string](v.page, fmt.Sprintf(`JSON.stringify(%s)`, part.is))
		if err != nil {
			return fmt.Errorf("%s: %w", part.what, err)
		}
		if got != part.want {
			v.wrong("%s: %s, want %s", part.what, got, part.want)
		}
	}
	return nil
}
