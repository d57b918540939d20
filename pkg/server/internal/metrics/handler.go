package metrics

import (
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler answers scrapes with what read returns, and with the Go runtime's and the process's own
// metrics. It calls read once for each scrape, from the scrape's goroutine.
func Handler(read func() Snapshot, version string) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		newCollector(read, version, runtime.Version()),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	// A series that cannot be shown costs that series, not the scrape.
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}
