package strict

// The codes of problems that any text can have. They are stable: scripts compare them.
const (
	CodeFileTooLarge     = "file_too_large"
	CodeNotUTF8          = "not_utf8"
	CodeEmptyFile        = "empty_file"
	CodeInvalidYAML      = "invalid_yaml"
	CodeSeveralDocuments = "several_documents"
	CodeAnchorOrAlias    = "anchor_or_alias"
	CodeTag              = "tag"
	CodeNestedTooDeep    = "nested_too_deep"
	CodeUnknownKey       = "unknown_key"
	CodeDuplicateKey     = "duplicate_key"
	CodeMissingKey       = "missing_key"
	CodeWrongType        = "wrong_type"
	CodeOutOfRange       = "out_of_range"
	CodeInvalidChoice    = "invalid_choice"
	CodeInvalidDuration  = "invalid_duration"
	CodeInvalidSize      = "invalid_size"
	CodeInvalidText      = "invalid_text"
)
