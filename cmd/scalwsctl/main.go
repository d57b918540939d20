// Command scalwsctl looks into a running ScalWS and changes it (docs/scalwsctl.md).
package main

import (
	"context"
	"os"

	"github.com/scalws/scalws/internal/ctl"
)

// version is set by the linker for a release; otherwise the module's version stands.
var version string

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := ctl.Signals(context.Background())
	defer stop()
	sys := ctl.Process()
	sys.Version = version
	return ctl.Main(ctx, os.Args[1:], sys)
}
