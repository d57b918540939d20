package ctl

import (
	"io"
	"os"
	"strconv"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
	"golang.org/x/sys/unix"
)

// terminalWidth is how many columns the terminal behind a stream has: COLUMNS, or what the terminal says; 0 where
// it is none, or does not tell. What is written to a file or a pipe is never cut to a width.
func terminalWidth(w io.Writer, getenv func(string) string) int {
	f, ok := stream(w).(*os.File)
	if !ok || !isTerminal(f) {
		return 0
	}
	if columns, err := strconv.Atoi(getenv("COLUMNS")); err == nil && columns > 0 {
		return columns
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// stream is what is behind the standard output's buffer.
func stream(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return o.to
	}
	return w
}

// newPainter draws in colours on a terminal that has them, and plainly elsewhere; NO_COLOR and TERM=dumb switch
// colours off.
func newPainter(out io.Writer, getenv func(string) string) *lipgloss.Renderer {
	out = stream(out)
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
