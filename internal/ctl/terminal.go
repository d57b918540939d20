package ctl

import (
	"io"
	"os"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
	"golang.org/x/sys/unix"
)

// terminalWidth is how many columns the terminal behind a stream has; 0 where it is none, or does not tell.
func terminalWidth(w io.Writer) int {
	if o, ok := w.(*output); ok {
		w = o.to
	}
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// newPainter draws in colours on a terminal that has them, and plainly elsewhere; NO_COLOR and TERM=dumb switch
// colours off.
func newPainter(out io.Writer, getenv func(string) string) *lipgloss.Renderer {
	if o, ok := out.(*output); ok {
		out = o.to
	}
	terminal := termenv.NewOutput(out, termenv.WithEnvironment(environ(getenv)))
	profile := terminal.ColorProfile()
	if terminal.EnvNoColor() || getenv("TERM") == "dumb" {
		profile = termenv.Ascii
	}
	painter := lipgloss.NewRenderer(out)
	painter.SetColorProfile(profile)
	return painter
}

// environ is an environment as termenv looks at one.
type environ func(string) string

func (e environ) Environ() []string         { return nil }
func (e environ) Getenv(name string) string { return e(name) }
