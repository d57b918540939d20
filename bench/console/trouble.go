package main

import (
	"fmt"
	"strings"
)

// contrast holds the colours of texts against WCAG 2.2 (success criterion 1.4.3: 4.5 to 1), in light and dark.
func (v *visit) contrast() error {
	for _, colours := range []string{"light", "dark"} {
		if err := v.look(1600, 960, colours); err != nil {
			return err
		}
		low, err := eval[[]string](v.page, `(() => {
			const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
			const probe = document.body.appendChild(document.createElement("i"));
			const light = (name) => {
				probe.style.color = "var(--" + name + ")";
				context.fillStyle = getComputedStyle(probe).color;
				context.fillRect(0, 0, 1, 1);
				const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((c) => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
				return .2126 * r + .7152 * g + .0722 * b;
			};
			const low = [];
			for (const ground of ["panel", "raised", "page", "accent-soft", "ejected-soft"])
				for (const text of ["text", "muted", "up", "ejected", "probation"]) {
					const [a, b] = [light(ground), light(text)].sort((x, y) => y - x);
					if ((a + .05) / (b + .05) < 4.5) low.push(text + " on " + ground + ": " + ((a + .05) / (b + .05)).toFixed(2));
				}
			probe.remove();
			return low;
		})()`)
		if err != nil {
			return err
		}
		if len(low) > 0 {
			v.wrong("too little contrast in %s: %s", colours, strings.Join(low, ", "))
		}
	}
	return v.look(1600, 960, "light")
}

// policy shows that nothing has broken the policy so far, and that it would be noticed.
func (v *visit) policy() error {
	broken, err := eval[[]string](v.page, `broken`)
	if err != nil {
		return err
	}
	if len(broken) > 0 {
		v.wrong("the content security policy was broken: %v", broken)
	}
	if _, err := eval[any](v.page, `document.head.append(Object.assign(document.createElement("style"), { textContent: "body{}" }))`); err != nil {
		return err
	}
	if err := v.wait("the policy to be enforced", `broken.length > 0`); err != nil {
		return err
	}
	v.takeFaults() // this one was meant
	return nil
}

// withoutToken opens the page in a tab that was never given the token.
func (v *visit) withoutToken() error {
	if _, err := eval[any](v.page, `(window.kept = sessionStorage.getItem("token"), sessionStorage.setItem("token", "wrong"), location.reload(), null)`); err != nil {
		return err
	}
	if err := v.wait("the page to say that it is not let in", `window.kept === undefined && seen($("#banner")) && $("#banner").textContent.includes("not let in")`); err != nil {
		return err
	}
	if err := v.shot("not-let-in"); err != nil {
		return err
	}
	v.takeFaults() // the refusals
	return nil
}

// gone ends the daemon and starts another one.
func (v *visit) gone() error {
	url, err := v.scene.console()
	if err != nil {
		return err
	}
	if err := v.start(url); err != nil {
		return err
	}
	v.takeFaults()
	if err := v.choose("web"); err != nil {
		return err
	}
	v.scene.endDaemon()
	if err := v.wait("the banner", `seen($("#banner")) && /does not answer/.test($("#banner").textContent) && $("#live").dataset.state === "lost"`); err != nil {
		return err
	}
	if err := v.wait("the last numbers to stay", `rows().length === 4`); err != nil {
		return err
	}
	if err := v.shot("gone"); err != nil {
		return err
	}
	v.scene.perMember = false
	if err := v.scene.serve(true); err != nil {
		return err
	}
	if err := v.wait("the page to go on", `!seen($("#banner")) && $("#live").dataset.state === "on"`); err != nil {
		return err
	}
	if err := v.wait("the gap in the timeline", `$$("#timeline .gap").length > 0`); err != nil {
		return err
	}
	if err := v.wait("the page to say what is not counted", `$(".plot.failures .note").textContent.includes("metrics.per_member is off")`); err != nil {
		return err
	}
	for _, fault := range v.takeFaults() {
		if !strings.Contains(fault, "502") && !strings.Contains(fault, "ERR_") {
			v.wrong("gone: the browser reports %s", fault)
		}
	}
	return nil
}

// noPools is a daemon that has none.
func (v *visit) noPools() error {
	v.scene.endDaemon()
	if err := v.scene.serve(false); err != nil {
		return fmt.Errorf("starting a daemon without pools: %w", err)
	}
	if err := v.wait("the page to say that there are no pools", `seen($("#blank")) && !seen($("#columns"))`); err != nil {
		return err
	}
	if err := v.shot("no-pools"); err != nil {
		return err
	}
	v.takeFaults() // from the change of daemons
	return nil
}
