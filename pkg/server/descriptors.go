package server

import "syscall"

// mostReserved are descriptors that clients and members leave alone: those of the admin API, of the metrics, of logs
// and files that are read. Where few are allowed, a quarter is reserved.
const mostReserved = 256

// maxConnections is how many clients are served at once: as configured, or, where that is 0, as many as there
// are descriptors for. A request needs two, one for the client and one for the member. Clients above the bound wait,
// instead of taking the descriptors that those before them need.
func maxConnections(configured int) int {
	if configured > 0 {
		return configured
	}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	descriptors := int(min(limit.Cur, 1<<30))
	return max(1, (descriptors-min(mostReserved, descriptors/4))/2)
}
