package metrics

import (
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// maxScrapes is how many scrapes may be under way; the next one gets a 503. Each has the series of all members
// in memory.
const maxScrapes = 10

// Handler answers scrapes with what read returns, and with the Go runtime's and the process's own
// metrics. It calls read once for each scrape, from the scrape's goroutine.
func Handler(read func() Snapshot, version string) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		newCollector(read, version, runtime.Version()),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		// A series that cannot be shown costs that series, not the scrape.
		ErrorHandling: promhttp.ContinueOnError,
		// Coalescing would bound the memory too, but a scraper that does not read its answer would hold old
		// values for all others.
		MaxRequestsInFlight: maxScrapes,
	})
}
