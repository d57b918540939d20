package config

// Key is a key of the configuration file, for manuals and editors.
type Key struct {
	// Path has [] for an entry of a list and <name> for a name that the user chooses, for example
	// "upstreams.<name>.members[].weight".
	Path string
	// Type in words: "a duration".
	Type string
	// Bound in words, for example "1ms to 1h"; empty where the type says it all.
	Bound string
	// Default as it would stand in the file; "required"; or, if that is no value, in words.
	Default string
	// Meaning in a sentence or two.
	Meaning string
}

// Keys are all keys that the file can have, in the order of the manual. They come from the tables that
// the decoder reads by.
func Keys() []Key {
	return keysOf("", rootFields(&Config{}))
}

func keysOf(path string, fields []field) []Key {
	var keys []Key
	for _, f := range fields {
		at := f.name
		if path != "" {
			at = path + "." + f.name
		}
		k := Key{Path: at, Type: f.kind.wants, Bound: f.kind.bound, Default: f.def, Meaning: f.meaning}
		switch {
		case f.need:
			k.Default = "required"
		case f.def == "":
			k.Default = f.otherwise
		}
		keys = append(keys, k)
		if f.kind.inner != nil {
			keys = append(keys, f.kind.inner(at)...)
		}
	}
	return keys
}
