package ctl

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/scalws/scalws/internal/strict"
)

// beginsConfig is what a text has that is meant as a configuration, and neither a site file nor a YAML file of
// something else: one of the two keys that those do not have, alone or quoted, at the beginning of a line. The
// text need not be valid: that is what is to be found out.
const beginsConfig = `(?m)^(\x{FEFF})?["']?(server|upstreams)["']?[ \t]*:([ \t\r]|$)`

// configFiles are the files that the arguments of "config validate" name. A folder stands for the
// configurations below it, in the order of their names; it is an error if there are none.
func configFiles(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		if info, err := os.Stat(arg); arg == "-" || err != nil || !info.IsDir() {
			files = append(files, arg) // what is wrong with a file is found out when it is read
			continue
		}
		below, err := configsBelow(arg)
		if err != nil {
			return nil, err
		}
		files = append(files, below...)
	}
	return files, nil
}

func configsBelow(folder string) ([]string, error) {
	begins := regexp.MustCompile(beginsConfig)
	var files []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)):
			return nil
		}
		text, err := beginning(path)
		if err != nil {
			return err
		}
		if begins.Match(text) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return nil, invalid("name the files instead", fmt.Errorf("looking for configurations in %s: %w", folder, err))
	}
	if len(files) == 0 {
		return nil, invalid("a configuration is a .yaml or .yml file with the key server or upstreams; a file that is named is checked whatever it holds",
			fmt.Errorf("there is no configuration in %s", folder))
	}
	return files, nil
}

// beginning is as much of a file as a configuration may have.
func beginning(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, strict.MaxText))
}
