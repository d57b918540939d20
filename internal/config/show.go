package config

import "github.com/scalws/scalws/internal/strict"

// Show is the configuration with every default filled in, in the keys and the notation of the file: read
// again, it gives the same Config. Applications of site files stand in their tenant. It goes by the tables that
// the file is read by, so that no key can be forgotten. There is no secret in it: keys and certificates are
// files, and what is shown of a file is its name.
func (c *Config) Show() strict.Shown { return strict.Show(rootFields(c)) }
