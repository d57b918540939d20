package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// shortForms are for the expressions below. Violations of the policy are noted by the page's own event, which
// says more than the browser's log.
const shortForms = `
	window.$ = (s) => document.querySelector(s);
	window.$$ = (s) => [...document.querySelectorAll(s)];
	window.seen = (e) => e && e.getClientRects().length > 0;
	window.rows = () => $$("#members .space .row").filter(seen);
	window.broken = [];
	document.addEventListener("securitypolicyviolation", (e) => broken.push(e.violatedDirective + " " + e.blockedURI));
	window.filter = (text) => {
		$("#search").value = text;
		$("#search").dispatchEvent(new Event("input"));
	};
	// How long the page is busy with each of 24 changes: from the change, at the beginning of a frame, until all is laid
	// out. Unlike the time between frames it does not depend on what else the machine does.
	window.cost = async (change) => {
		const all = [];
		for (let i = 0; i < 24; i++) {
			await new Promise(requestAnimationFrame);
			const start = performance.now();
			change(i);
			const drawn = new Promise(requestAnimationFrame);
			const busy = performance.now() - start;
			await drawn;
			const again = performance.now();
			$("#members").getBoundingClientRect();
			await new Promise((f) => setTimeout(f));
			all.push(busy + performance.now() - again);
		}
		return all;
	};`

// smooth is how long, in milliseconds, the page may be busy with a change for nobody to notice.
const smooth = 30

// start opens the page and waits until it shows the pools.
func (v *visit) start(url string) error {
	if err := v.call("Page.addScriptToEvaluateOnNewDocument", params{"source": shortForms}, nil); err != nil {
		return err
	}
	if err := v.look(1600, 960, "light"); err != nil {
		return err
	}
	if err := v.call("Page.navigate", params{"url": url}, nil); err != nil {
		return err
	}
	if err := v.wait("the pools", `!document.body.classList.contains("loading") && $$("#pools button").filter(seen).length === 7`); err != nil {
		return err
	}
	if err := v.check("the token is no longer in the address", `!location.href.includes("token")`); err != nil {
		return err
	}
	return v.wait("the live stream", `$("#live").dataset.state === "on"`)
}

// overview lets members fail under load and looks for all that follows.
func (v *visit) overview() error {
	v.scene.load("api", 120)
	v.scene.load("web", 60)
	v.scene.load("search", 30)
	v.scene.load("fleet", 80)
	v.scene.load("canary", 8)
	v.sleepFrames(12 * time.Second)
	if err := v.soon(); err != nil {
		return err
	}
	v.scene.members["api"][4].mode.Store(unavailable)
	v.scene.members["web"][2].server.Close()
	v.scene.members["canary"][1].mode.Store(unavailable)
	v.scene.members["fleet"][17].mode.Store(broken)
	if err := v.wait("an ejection in the list of pools", `$$("#pools .icon.ejected").length > 0`); err != nil {
		return err
	}
	v.sleepFrames(25 * time.Second)
	if err := v.choose("api"); err != nil {
		return err
	}
	if err := v.wait("an ejected member of api", `rows().some((r) => r.classList.contains("ejected"))`); err != nil {
		return err
	}
	for what, expression := range map[string]string{
		"api has six rows":                           `rows().length === 6`,
		"each state has a word":                      `rows().every((r) => ["Up", "Ejected", "Probation"].includes(r.querySelector(".word").textContent))`,
		"each state has a shape":                     `rows().every((r) => r.querySelector(".state use").getAttribute("href") === "#i-" + r.querySelector(".word").textContent.toLowerCase())`,
		"both plots have lines":                      `$$(".plot .line").every((l) => l.getAttribute("d").length > 100)`,
		"plots have a text alternative":              `$$(".plot svg").every((s) => /now, at most/.test(s.getAttribute("aria-label")))`,
		"ejections are marked in the plot":           `$(".failures .marks path").getAttribute("d").includes("M")`,
		"rows have small plots":                      `rows().some((r) => r.querySelector(".spark .line").getAttribute("d").length > 50)`,
		"requests are counted":                       `Number($(".plot.requests strong").textContent) > 20`,
		"the timeline has ejections":                 `$$("#timeline .ejected b").length > 0`,
		"an ejection has its evidence":               `$("#timeline details li span, #timeline details li code") !== null`,
		"the newest event is first":                  `$$("#timeline time[title]").map((t) => Date.parse(t.dateTime)).every((t, i, all) => i === 0 || all[i - 1] >= t)`,
		"all buttons have names":                     `$$("button").filter(seen).every((b) => (b.getAttribute("aria-label") ?? b.textContent).trim() !== "")`,
		"no row is cut off":                          `$("#members").scrollWidth <= $("#members").clientWidth + 1`,
		"the title says how many are ejected":        `/^\(\d+ ejected\)/.test(document.title)`,
		"the table says how many rows it would have": `$("#members").getAttribute("aria-rowcount") === "7"`,
	} {
		if err := v.check(what, expression); err != nil {
			return err
		}
	}
	if err := os.WriteFile(configurationFile, []byte("upstreams: none\n"), 0o644); err != nil {
		return err
	}
	if v.scene.reload() == nil {
		v.wrong("a reload of a broken file was not refused")
	}
	if err := v.wait("the refused reload", `$("#process .warn[title]")?.textContent.includes("refused")`); err != nil {
		return err
	}
	if err := os.WriteFile(configurationFile, []byte(v.scene.configuration(true)), 0o644); err != nil {
		return err
	}
	if err := v.scene.reload(); err != nil {
		return err
	}
	if err := v.wait("the reload", `!$("#process .warn")`); err != nil {
		return err
	}
	return v.countDown()
}

// soon breaks a member, and measures how long after its ejection the page shows it.
func (v *visit) soon() error {
	if err := v.choose("api"); err != nil {
		return err
	}
	v.scene.members["api"][1].mode.Store(broken)
	late, err := eval[float64](v.page, `new Promise((done) => {
		const look = () => {
			const event = $("#timeline .ejected time");
			if (event && rows().some((r) => r.classList.contains("ejected"))) done(Date.now() - Date.parse(event.dateTime));
			else requestAnimationFrame(look);
		};
		look();
	})`)
	if err != nil {
		return err
	}
	fmt.Printf("overview: an ejection was seen after %.0f ms\n", late)
	if late > 1000 {
		v.wrong("an ejection was seen only after %.0f ms", late)
	}
	return nil
}

// countDown holds the countdown against the daemon's own answer.
func (v *visit) countDown() error {
	left := `parseFloat($("#members .row.ejected .left")?.textContent ?? "NaN")`
	before, err := eval[float64](v.page, left+` || 0`)
	if err != nil {
		return err
	}
	v.sleepFrames(1500 * time.Millisecond)
	after, err := eval[float64](v.page, left+` || 0`)
	if err != nil {
		return err
	}
	// A member may have come back in between; then there is another number, or none.
	if after > 0 && after <= before && before-after < 0.9 {
		v.wrong("the countdown went from %v to %v in a second and a half", before, after)
	}
	return nil
}

// sleepFrames lets the page go on for a time.
func (v *visit) sleepFrames(d time.Duration) {
	_, _ = eval[any](v.page, fmt.Sprintf(`new Promise((f) => setTimeout(f, %d))`, d.Milliseconds()))
}

// choose chooses a pool by a click.
func (v *visit) choose(pool string) error {
	_, err := eval[any](v.page, fmt.Sprintf(`$$("#pools button").find((b) => b.querySelector(".name").textContent === %q).click()`, pool))
	if err != nil {
		return err
	}
	return v.wait(pool+" to be chosen", fmt.Sprintf(`$("#pool-name").textContent === %q`, pool))
}

// fleet measures what a thousand members cost: filtering, sorting and scrolling must not make the page stutter.
func (v *visit) fleet() error {
	if err := v.choose("fleet"); err != nil {
		return err
	}
	if err := v.wait("a thousand members", `$("#members").getAttribute("aria-rowcount") === "1001"`); err != nil {
		return err
	}
	for what, expression := range map[string]string{
		"few rows are there at once": `$$("#members .space .row").length < 60`,
		"all can be scrolled to":     `Math.abs($("#members .space").offsetHeight - 44000) < 1`,
	} {
		if err := v.check(what, expression); err != nil {
			return err
		}
	}
	for _, m := range []struct{ what, do string }{
		{"scrolling", `$("#members").scrollTop = i * 1767`},
		{"filtering", `filter("127.0." + (i % 2 ? "3" : ""))`},
		{"sorting", `$$("#members .head button")[i % 8].click()`},
		{"reading", `filter(" ".repeat(i % 2))`},
	} {
		cost, err := eval[[]float64](v.page, fmt.Sprintf(`cost((i) => { %s })`, m.do))
		if err != nil {
			return err
		}
		slices.Sort(cost)
		median, slowest := cost[len(cost)/2], cost[len(cost)-1]
		fmt.Printf("fleet: %s: half of the time drawn within %.0f ms, at most %.0f ms\n", m.what, median, slowest)
		if median > smooth {
			v.wrong("%s a thousand members takes %.0f ms, more than %v", m.what, median, smooth)
		}
	}
	if _, err := eval[any](v.page, `filter("127.0.31.")`); err != nil {
		return err
	}
	if err := v.wait("the filter to hold", `/^250 of 1,000 members/.test($("#member-count").textContent)`); err != nil {
		return err
	}
	if err := v.shot("fleet"); err != nil {
		return err
	}
	_, err := eval[any](v.page, `(filter(""), location.hash = "", null)`) // the order by a column goes with it
	return err
}

// keyboard does without a mouse.
func (v *visit) keyboard() error {
	if err := v.choose("api"); err != nil {
		return err
	}
	for _, step := range []struct {
		keys []string
		then string
	}{
		{[]string{"Escape", "Escape", "/"}, `document.activeElement.id === "search"`},
		{[]string{"1", "2", "7", "."}, `$("#search").value === "127."`},
		{[]string{"Escape"}, `$("#search").value === ""`},
		{[]string{"Escape"}, `document.activeElement.id !== "search"`},
		{[]string{"ArrowDown", "ArrowDown"}, `$("#" + $("#members").getAttribute("aria-activedescendant")).ariaRowIndex === "3"`},
		{[]string{"Enter"}, `!$("#unpin").hidden && rows()[1].ariaSelected === "true"`},
		{[]string{"Escape"}, `$("#unpin").hidden`},
		{[]string{"End"}, `rows().at(-1).classList.contains("active")`},
		{[]string{"2"}, `$$("#states .chip")[1].ariaPressed === "true"`},
		{[]string{"1"}, `rows().length === 6`},
		{[]string{"ArrowRight"}, `$("#pool-name").textContent === "canary"`},
		{[]string{"ArrowLeft", "ArrowLeft"}, `$("#pool-name").textContent === "All pools"`},
		{[]string{"?"}, `$("#keys").open && seen($("#keys-close"))`},
		{[]string{"Escape"}, `!$("#keys").open`},
	} {
		if err := v.press(step.keys...); err != nil {
			return err
		}
		if err := v.wait(fmt.Sprintf("what %s does: %s", strings.Join(step.keys, " "), step.then), step.then); err != nil {
			return err
		}
	}
	return nil
}

// looks takes the pictures: every width in both colours, and the pools without members.
func (v *visit) looks() error {
	if err := v.choose("api"); err != nil {
		return err
	}
	v.scene.members["api"][0].mode.Store(broken)
	v.sleepFrames(2 * time.Second)
	v.scene.members["api"][0].mode.Store(well)
	if _, err := eval[any](v.page, `($("#timeline details").open = true) && null`); err != nil {
		return err
	}
	for _, look := range []struct {
		name          string
		width, height int
		colours       string
	}{
		{"light", 1600, 960, "light"}, {"dark", 1600, 960, "dark"}, {"laptop", 1280, 760, "light"},
		{"tablet", 820, 1180, "dark"}, {"narrow-light", 390, 844, "light"}, {"narrow-dark", 390, 844, "dark"},
	} {
		if err := v.look(look.width, look.height, look.colours); err != nil {
			return err
		}
		v.sleepFrames(1200 * time.Millisecond)
		if err := v.check(look.name+" does not scroll sideways", `document.documentElement.scrollWidth <= innerWidth`); err != nil {
			return err
		}
		if err := v.shot(look.name); err != nil {
			return err
		}
	}
	if _, err := eval[any](v.page, `$("#members").scrollIntoView()`); err != nil {
		return err
	}
	if err := v.shot("narrow-members"); err != nil {
		return err
	}
	if err := v.look(1600, 960, "light"); err != nil {
		return err
	}
	if err := v.choose("All pools"); err != nil {
		return err
	}
	v.sleepFrames(1200 * time.Millisecond)
	if err := v.shot("all"); err != nil {
		return err
	}
	if err := v.choose("spare"); err != nil {
		return err
	}
	if err := v.check("a pool without members says so", `seen($("#empty")) && $("#empty").textContent.includes("scalwsctl upstreams set spare")`); err != nil {
		return err
	}
	if err := v.shot("empty"); err != nil {
		return err
	}
	return v.choose("api")
}
