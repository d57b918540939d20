package loop

// Slice is the slice that the loops ask for.
const Slice = slice

// Sleeps is true while the loop waits for sockets alone: no clock will end its wait.
func (l *Loop) Sleeps() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asleep && l.until == 0
}

// Asleep is true while the loop waits, for whatever.
func (l *Loop) Asleep() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asleep
}

// Load is how many sockets the loop has that were accepted.
func (l *Loop) Load() int { return int(l.load.Load()) }
