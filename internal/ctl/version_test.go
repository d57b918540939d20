package ctl

import (
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	build := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: version}, Settings: settings}
	}
	for name, test := range map[string]struct {
		release string
		build   *debug.BuildInfo
		want    string
	}{
		"nobody knows": {"", nil, "scalwsctl unknown"},
		"module":       {"", build("v1.2.3"), "scalwsctl v1.2.3 go1.26"},
		"no version":   {"", build(""), "scalwsctl unknown go1.26"},
		"release":      {"1.2.3", build("(devel)"), "scalwsctl 1.2.3 go1.26"},
		"only release": {"1.2.3", nil, "scalwsctl 1.2.3"},
		"working tree": {
			"", build("(devel)", debug.BuildSetting{Key: "vcs.revision", Value: "abc"}, debug.BuildSetting{Key: "vcs.modified", Value: "true"}),
			"scalwsctl (devel) abc (modified) go1.26",
		},
		"commit": {
			"", build("v1.2.3", debug.BuildSetting{Key: "vcs.revision", Value: "abc"}, debug.BuildSetting{Key: "vcs.modified", Value: "false"}),
			"scalwsctl v1.2.3 abc go1.26",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := versionOf(test.release, test.build).String(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
