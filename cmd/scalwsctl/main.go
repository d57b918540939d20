// Command scalwsctl looks into a running ScalWS and changes it (docs/scalwsctl.md).
package main

import (
	"context"
	"os"

	"github.com/scalws/scalws/internal/ctl"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := ctl.Signals(context.Background())
	defer stop()
	return ctl.Main(ctx, os.Args[1:], ctl.Process())
}
