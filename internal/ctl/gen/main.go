// Command gen writes what is made from scalwsctl's command tree: completions/ and man/ below the folder
// that is its argument. The files are committed; a test fails when they are not what gen would write.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: gen REPOSITORY")
		return 2
	}
	if err := write(args[0]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}

// write makes the folders hold the rendered files and nothing else.
func write(repository string) error {
	files, err := render()
	if err != nil {
		return err
	}
	for _, folder := range folders() {
		old, err := filepath.Glob(filepath.Join(repository, folder, "*"))
		if err != nil {
			return err
		}
		for _, file := range old {
			if err := os.Remove(file); err != nil {
				return fmt.Errorf("removing an old file: %w", err)
			}
		}
		if err := os.MkdirAll(filepath.Join(repository, folder), 0o755); err != nil {
			return fmt.Errorf("making a folder: %w", err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(repository, name), text, 0o644); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
	}
	return nil
}
