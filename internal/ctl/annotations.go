package ctl

import (
	"fmt"
	"io"
	"strings"

	"github.com/scalws/scalws/internal/strict"
)

// writeAnnotations prints each problem as a workflow command of GitHub Actions, which shows it beside its line
// in the files of a pull request. The code is the title.
func writeAnnotations(w io.Writer, problems []strict.Problem) error {
	// The characters that end a command or a property, and the one that escapes them, as GitHub's own toolkit
	// escapes them.
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, p := range problems {
		place := "file=" + property.Replace(p.File)
		if p.Line > 0 {
			place += fmt.Sprintf(",line=%d,col=%d", p.Line, p.Column)
		}
		_, err := fmt.Fprintf(w, "::%s %s,title=%s::%s\n", p.Severity, place, property.Replace(p.Code), message.Replace(inOneText(p)))
		if err != nil {
			return err
		}
	}
	return nil
}
