package ctl

import (
	"cmp"
	"io"

	"github.com/charmbracelet/lipgloss"

	"github.com/scalws/scalws/pkg/api"
)

// palette colours words on a terminal that has colours, and leaves them as they are elsewhere. The colours are the
// terminal's own sixteen, which its user has made readable.
type palette struct{ painter *lipgloss.Renderer }

func newPalette(out io.Writer, getenv func(string) string) palette {
	return palette{newPainter(out, getenv)}
}

// plain has no colours.
func plain() palette { return palette{lipgloss.NewRenderer(io.Discard)} }

func (p palette) colour(text, ansi string) string {
	return p.painter.NewStyle().Foreground(lipgloss.Color(ansi)).Render(text)
}

func (p palette) bad(text string) string  { return p.colour(text, "1") }
func (p palette) good(text string) string { return p.colour(text, "2") }
func (p palette) warn(text string) string { return p.colour(text, "3") }
func (p palette) bold(text string) string { return p.painter.NewStyle().Bold(true).Render(text) }
func (p palette) dim(text string) string  { return p.painter.NewStyle().Faint(true).Render(text) }

// statePalette has the states of a member in their colours. Colour is only where something is wrong, and
// only on a terminal that has it; NO_COLOR and TERM=dumb switch it off.
type statePalette map[string]string

func newStatePalette(out io.Writer, getenv func(string) string) statePalette {
	return newPalette(out, getenv).states()
}

func (p palette) states() statePalette {
	return statePalette{
		api.StateEjected:   p.bad(api.StateEjected),
		api.StateProbation: p.warn(api.StateProbation),
	}
}

// paint is the state in its colour, if it has one.
func (p statePalette) paint(state string) string { return cmp.Or(p[state], printable(state)) }
