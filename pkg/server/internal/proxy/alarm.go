package proxy

import "time"

// alarm calls a function unless it is stopped in time. Unlike a time.Timer it does not outlive its stop: a call that
// has begun is waited for, because what it uses of the library is gone once a request is over. It belongs to one
// goroutine.
type alarm struct {
	call  func()
	timer *time.Timer   // nil: it was never set
	over  chan struct{} // gets a signal at the end of a call
	armed bool
}

func newAlarm(call func()) *alarm { return &alarm{call: call, over: make(chan struct{}, 1)} }

// set has it go off in d. It is not set now.
func (a *alarm) set(d time.Duration) {
	a.armed = true
	if a.timer != nil {
		a.timer.Reset(d)
		return
	}
	a.timer = time.AfterFunc(d, func() {
		a.call()
		a.over <- struct{}{}
	})
}

// stop ends it, whether it is set or not.
func (a *alarm) stop() {
	if a.armed && !a.timer.Stop() {
		<-a.over
	}
	a.armed = false
}
