package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// line is what the access log says of a request.
type line struct {
	read time.Time
	text string

	RequestID string `json:"request_id"`
	Status    int    `json:"status"`
	Attempts  int    `json:"upstream_attempts"`
	Member    string `json:"upstream_member"`
	Pool      string `json:"pool"`
}

// logRhythm is how often the log is looked at.
const logRhythm = 100 * time.Millisecond

// follow hands the lines of the access log to their stories as they are written, until the context ends. A
// line that cannot be read is an error: nobody may be able to forge or split one.
func follow(ctx context.Context, file string, all *stories) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("reading the access log: %w", err)
	}
	defer f.Close()
	in, begun := bufio.NewReaderSize(f, 64<<10), ""
	for {
		part, err := in.ReadString('\n')
		begun += part
		switch {
		case errors.Is(err, io.EOF):
			if !sleep(ctx, logRhythm) {
				return nil
			}
			continue
		case err != nil:
			return fmt.Errorf("reading the access log: %w", err)
		}
		l := line{read: time.Now(), text: strings.TrimSpace(begun)}
		begun = ""
		if err := json.Unmarshal([]byte(l.text), &l); err != nil {
			return fmt.Errorf("reading the access log: %w: %s", err, l.text)
		}
		if s := all.find(l.RequestID); s != nil {
			s.mu.Lock()
			s.lines = append(s.lines, l)
			s.mu.Unlock()
		}
	}
}
