package config

import "github.com/scalws/scalws/internal/strict"

// Keys are all keys that the file can have, in the order of the manual. They come from the tables that
// the file is read by.
func Keys() []strict.Key { return strict.Keys("", rootFields(&Config{})) }
