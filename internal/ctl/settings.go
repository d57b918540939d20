package ctl

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/viper"
)

// settings is what scalwsctl remembers: the file scalwsctl.yaml of its user.
type settings struct {
	// Current is the context that is used where nothing else says; empty: none.
	Current  string
	Contexts []place
}

// place is a context: a daemon and how to reach it, by a name.
type place struct {
	Name string `json:"name"`
	// Socket is the path of an admin socket; exactly one of Socket and Server is set.
	Socket string `json:"socket,omitempty"`
	// Server is the address of a remote admin listener, Cert and Key what it is shown, CA what its certificate
	// comes from.
	Server string `json:"server,omitempty"`
	Cert   string `json:"cert,omitempty"`
	Key    string `json:"key,omitempty"`
	CA     string `json:"ca,omitempty"`
}

// settingsFile is where the settings are (XDG base directory specification); empty for a user without a home.
func (s *session) settingsFile() string {
	folder := s.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(folder) { // the specification says to pass over a relative one
		home := s.Getenv("HOME")
		if home == "" {
			return ""
		}
		folder = filepath.Join(home, ".config")
	}
	return filepath.Join(folder, "scalws", "scalwsctl.yaml")
}

// readSettings reads the file, strictly: a key that is misspelled is no key. A file that does not exist has no
// settings. Nothing is read before it is needed: most runs name their daemon.
func readSettings(file string) (settings, error) {
	var s settings
	if file == "" {
		return s, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	wrong := func(err error) (settings, error) {
		return settings{}, invalid("correct the file, or remove it and add its contexts anew", fmt.Errorf("reading the settings in %s: %w", file, err))
	}
	if err != nil {
		return wrong(err)
	}
	v := viper.New()
	v.SetConfigType("yaml")
	if err := v.ReadConfig(bytes.NewReader(text)); err != nil {
		return wrong(err)
	}
	if err := v.UnmarshalExact(&s); err != nil {
		return wrong(errors.New(strings.Join(strings.Fields(err.Error()), " "))) // it has lines
	}
	for i := range s.Contexts {
		c := &s.Contexts[i]
		if err := c.check(); err != nil {
			return wrong(fmt.Errorf("context %q: %w", c.Name, err))
		}
		c.beside(filepath.Dir(file))
	}
	return s, nil
}

// write replaces the file as a whole, so that nobody reads half of it. It is for its user alone: it says where
// keys are. Comments in it are lost. A file that is a link stays one.
func (s settings) write(file string) error {
	if file == "" {
		return invalid("set HOME or XDG_CONFIG_HOME", errors.New("there is no folder for the settings"))
	}
	contexts := make([]map[string]string, 0, len(s.Contexts))
	for _, c := range s.Contexts {
		keys := map[string]string{"name": c.Name}
		for key, value := range map[string]string{"socket": c.Socket, "server": c.Server, "cert": c.Cert, "key": c.Key, "ca": c.CA} {
			if value != "" {
				keys[key] = value
			}
		}
		contexts = append(contexts, keys)
	}
	v := viper.New()
	v.SetConfigType("yaml")
	v.Set("current", s.Current)
	v.Set("contexts", contexts)
	var text bytes.Buffer
	text.WriteString("# Written by \"scalwsctl context\", which does not keep comments.\n")
	if err := v.WriteConfigTo(&text); err != nil {
		return fmt.Errorf("writing the settings: %w", err)
	}
	if err := replaceFile(file, text.Bytes()); err != nil {
		return fmt.Errorf("writing the settings: %w", err)
	}
	return nil
}

// replaceFile writes a file for its owner alone, beside its place, and moves it there.
func replaceFile(file string, text []byte) error {
	if at, err := filepath.EvalSymlinks(file); err == nil {
		file = at
	}
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".scalwsctl-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails where all went well
	_, err = f.Write(text)
	err = cmp.Or(err, f.Sync())
	if err = cmp.Or(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// find is the context of that name.
func (s settings) find(name string) (place, bool) {
	i := s.index(name)
	if i < 0 {
		return place{}, false
	}
	return s.Contexts[i], true
}

func (s settings) index(name string) int {
	return slices.IndexFunc(s.Contexts, func(c place) bool { return c.Name == name })
}

// names are those of all contexts.
func (s settings) names() []string {
	names := make([]string, len(s.Contexts))
	for i, c := range s.Contexts {
		names[i] = c.Name
	}
	return names
}

// unknown is the error for a context that is not there.
func (s settings) unknown(code int, name, by string) error {
	hint := "there is none yet: add one with 'scalwsctl context add'"
	if known := s.names(); len(known) > 0 {
		hint = "contexts: " + listed(known)
	}
	if by != "" {
		by = " (" + by + ")"
	}
	return &failure{code: code, err: fmt.Errorf("there is no context %q%s", name, by), hint: hint}
}

// check says what is wrong with a context in itself.
func (c place) check() error {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
	switch {
	case c.Name == "" || strings.Trim(c.Name, letters) != "" || c.Name[0] == '-':
		return errors.New("a name has letters, digits, _, . and -, and does not begin with -")
	case c.Socket == "" && c.Server == "":
		return errors.New("a context needs a socket or a server")
	}
	return c.checkWay()
}

// checkWay says what is wrong with a way to a daemon.
func (c place) checkWay() error {
	switch {
	case c.Socket != "" && c.Server != "":
		return errors.New("a socket and a server exclude each other")
	case c.Server == "" && (c.Cert != "" || c.Key != "" || c.CA != ""):
		return errors.New("a certificate, a key and a CA are for a server")
	case c.Server != "" && !strings.HasPrefix(c.Server, "https://"):
		return fmt.Errorf("a server has the form https://host:port, not %q", c.Server)
	case (c.Cert == "") != (c.Key == ""):
		return errors.New("a certificate and its key belong together")
	}
	return nil
}

// beside makes paths that are relative those of files in a folder.
func (c *place) beside(folder string) {
	for _, path := range []*string{&c.Socket, &c.Cert, &c.Key, &c.CA} {
		if *path != "" && !filepath.IsAbs(*path) {
			*path = filepath.Join(folder, *path)
		}
	}
}

// way is the socket or the server.
func (c place) way() string { return cmp.Or(c.Socket, c.Server) }
