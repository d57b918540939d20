// Package limits decides how many requests there may be: in how short a time (a [Rate]), and in all of a window of
// the calendar (a [Quota]). It decides and never answers: what a refused client is told is somebody else's matter.
//
// All of it is integers, and the time is an argument. Nothing here runs by itself.
package limits

import "time"

// Verdict is what is decided about one request.
type Verdict struct {
	// OK lets the request through; it has been counted then.
	OK bool
	// Wait is how long it takes until a request like a refused one may be let through; above 0.
	Wait time.Duration
}
