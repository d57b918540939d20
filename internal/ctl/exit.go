package ctl

import (
	"fmt"
	"net/http"
	"strings"
)

// The exit codes. Scripts decide by them: a code never changes its meaning, and nothing else is ever
// returned.
const (
	// ExitDone: done, or there was nothing to change.
	ExitDone = 0
	// ExitFailed: failed for a reason that has no code of its own.
	ExitFailed = 1
	// ExitUsage: the command line is wrong; nothing was tried.
	ExitUsage = 2
	// ExitNotFound: the daemon answered 404.
	ExitNotFound = 3
	// ExitRefused: the daemon answered 403, 409 or 501.
	ExitRefused = 4
	// ExitInvalid: the daemon answered 400 or 413, a check found errors before it was asked, or a simulation
	// did not come out as expected.
	ExitInvalid = 5
	// ExitChanged: the daemon answered 412.
	ExitChanged = 6
	// ExitUnreachable: no connection to the daemon; nothing was asked for.
	ExitUnreachable = 7
	// ExitTimeout: the time to wait was over.
	ExitTimeout = 8
	// ExitDifferent: there are differences, and --exit-code asked to be told so.
	ExitDifferent = 10
	// ExitInterrupted: interrupted from the keyboard (128 + SIGINT).
	ExitInterrupted = 130
)

// exitMeaning is one line of the table that users see.
type exitMeaning struct {
	code    int
	meaning string
}

// exitMeanings is the table behind "help exit-codes"; docs/scalwsctl.md is held to it.
func exitMeanings() []exitMeaning {
	return []exitMeaning{
		{ExitDone, "done (also: nothing to change)"},
		{ExitFailed, "failed"},
		{ExitUsage, "wrong usage: unknown command or flag, missing argument"},
		{ExitNotFound, "not found (404)"},
		{ExitRefused, "refused by the pool's or the process's state, or by role (403, 409, 501)"},
		{ExitInvalid, "invalid input or configuration (400, 413, config validate, simulate, ADDR=abc)"},
		{ExitChanged, "somebody else changed it (412)"},
		{ExitUnreachable, "daemon cannot be reached"},
		{ExitTimeout, "timed out waiting"},
		{ExitDifferent, "differences, only with --exit-code"},
		{ExitInterrupted, "interrupted"},
	}
}

// exitOfStatus is the code for an answer of the daemon that is no success.
func exitOfStatus(status int) int {
	switch status {
	case http.StatusNotFound:
		return ExitNotFound
	case http.StatusForbidden, http.StatusConflict, http.StatusNotImplemented:
		return ExitRefused
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge:
		return ExitInvalid
	case http.StatusPreconditionFailed:
		return ExitChanged
	}
	return ExitFailed
}

// exitCodesHelp is the text of "help exit-codes".
func exitCodesHelp() string {
	var b strings.Builder
	b.WriteString("Every command of scalwsctl ends with one of these codes:\n\n")
	for _, e := range exitMeanings() {
		fmt.Fprintf(&b, "    %3d  %s\n", e.code, e.meaning)
	}
	b.WriteString("\nA reader of the output that stops early, as in \"scalwsctl upstreams | head -1\", changes no code.")
	return b.String()
}
