package strict

// Key is a key of a file format, for manuals and editors.
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

// Keys are all keys of the fields below a path, in the order of their tables; the path of the document is
// empty.
func Keys(path string, fields []Field) []Key {
	var keys []Key
	for _, f := range fields {
		if f.Kind.Wants == "" {
			continue
		}
		at := f.Name
		if path != "" {
			at = path + "." + f.Name
		}
		k := Key{Path: at, Type: f.Kind.Wants, Bound: f.Kind.Bound, Default: f.Def, Meaning: f.Meaning}
		switch {
		case f.Need:
			k.Default = "required"
		case f.Def == "":
			k.Default = f.Otherwise
		}
		keys = append(keys, k)
		if f.Kind.Inner != nil {
			keys = append(keys, f.Kind.Inner(at)...)
		}
	}
	return keys
}
