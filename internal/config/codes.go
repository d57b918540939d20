package config

// The codes of problems. They are stable: scripts compare them.
const (
	codeUnreadableFile     = "unreadable_file"
	codeFileTooLarge       = "file_too_large"
	codeNotUTF8            = "not_utf8"
	codeEmptyFile          = "empty_file"
	codeInvalidYAML        = "invalid_yaml"
	codeSeveralDocuments   = "several_documents"
	codeAnchorOrAlias      = "anchor_or_alias"
	codeTag                = "tag"
	codeNestedTooDeep      = "nested_too_deep"
	codeUnknownKey         = "unknown_key"
	codeDuplicateKey       = "duplicate_key"
	codeMissingKey         = "missing_key"
	codeWrongType          = "wrong_type"
	codeOutOfRange         = "out_of_range"
	codeInvalidChoice      = "invalid_choice"
	codeInvalidDuration    = "invalid_duration"
	codeInvalidSize        = "invalid_size"
	codeInvalidText        = "invalid_text"
	codeInvalidName        = "invalid_name"
	codeInvalidAddress     = "invalid_address"
	codeInvalidPrefix      = "invalid_prefix"
	codeInvalidFilePath    = "invalid_file_path"
	codeInvalidMode        = "invalid_mode"
	codeOpenSocket         = "open_socket"
	codeInvalidCookieName  = "invalid_cookie_name"
	codeInvalidHeaderName  = "invalid_header_name"
	codeInvalidHostName    = "invalid_host_name"
	codeInvalidDomain      = "invalid_domain"
	codeInvalidRoutePath   = "invalid_route_path"
	codeInvalidMember      = "invalid_member"
	codeNoMembers          = "no_members"
	codeDuplicateName      = "duplicate_name"
	codeDuplicateAddress   = "duplicate_address"
	codeDuplicateDomain    = "duplicate_domain"
	codeDuplicateRoute     = "duplicate_route"
	codeUnknownPool        = "unknown_pool"
	codeUpstreamBackends   = "upstream_and_backends"
	codeNoUpstream         = "no_upstream"
	codeBackendTarget      = "backend_target"
	codeNoBackendWeight    = "no_backend_weight"
	codeNothingToServe     = "nothing_to_serve"
	codeTLSWithoutHTTPS    = "tls_without_https"
	codeInvalidCertificate = "invalid_certificate"
	codeInvalidKeyFile     = "invalid_key_file"
	codeIgnoredKey         = "ignored_key"
)

// Code describes one sort of problem.
type Code struct {
	Code     string
	Severity Severity
	// Meaning is one sentence for the manual.
	Meaning string
}

// Codes are all codes that a problem can have, in the order in which the checks are made.
func Codes() []Code {
	return []Code{
		{codeUnreadableFile, Error, "The file, or a file that it names, cannot be read or is not a regular file."},
		{codeFileTooLarge, Error, "The file is larger than 4MiB, or a file that it names larger than 1MiB."},
		{codeNotUTF8, Error, "The text is not UTF-8."},
		{codeInvalidYAML, Error, "The text is not YAML, or holds a control character."},
		{codeEmptyFile, Error, "The file has no content, or only comments."},
		{codeSeveralDocuments, Error, "A second document follows."},
		{codeAnchorOrAlias, Error, "An anchor, an alias or a merge key is used."},
		{codeTag, Error, "A value has a tag, such as !!str."},
		{codeNestedTooDeep, Error, "Values lie more than 32 levels deep."},
		{codeUnknownKey, Error, "There is no such key in this section."},
		{codeDuplicateKey, Error, "The key was given before in the same section."},
		{codeMissingKey, Error, "A required key is absent."},
		{codeWrongType, Error, "The value is of another type than the key takes."},
		{codeOutOfRange, Error, "A number, size, duration, text or list is outside its bound."},
		{codeInvalidChoice, Error, "The text is none of those that the key takes."},
		{codeInvalidDuration, Error, "Not a duration such as 500ms or 1m30s."},
		{codeInvalidSize, Error, "Not a size such as 64KiB or a number of bytes."},
		{codeInvalidText, Error, "The text is empty or holds a byte that it must not."},
		{codeInvalidName, Error, "A name has a character that names do not have."},
		{codeInvalidAddress, Error, "Not an address of the form that the key takes."},
		{codeInvalidPrefix, Error, "Not a network such as 10.0.0.0/8, nor an address."},
		{codeInvalidFilePath, Error, "The path must be absolute, or is too long for a socket."},
		{codeInvalidMode, Error, "Not a file mode such as \"0660\", or one that locks the owner out."},
		{codeOpenSocket, Error, "The mode would let every user of the machine control the daemon."},
		{codeInvalidCookieName, Error, "Not a name that a cookie can have."},
		{codeInvalidHeaderName, Error, "Not a name that a header can have."},
		{codeInvalidHostName, Error, "Neither a host name nor an IP address."},
		{codeInvalidDomain, Error, "Not a domain, *.domain or *."},
		{codeInvalidRoutePath, Error, "Not a path that a request can have."},
		{codeInvalidMember, Error, "The address of a member is malformed, given twice, or not allowed in this pool."},
		{codeNoMembers, Warning, "A pool whose members come from the file has none: it answers 503."},
		{codeDuplicateName, Error, "Two listeners, tenants or applications of a tenant have the same name."},
		{codeDuplicateAddress, Error, "Two listeners have the same address; the metrics and the admin socket count as such."},
		{codeDuplicateDomain, Error, "A domain is given twice, in one application or in two."},
		{codeDuplicateRoute, Error, "An application has two routes with the same path."},
		{codeUnknownPool, Error, "A runtime names a pool that upstreams does not have."},
		{codeUpstreamBackends, Error, "A runtime has both upstream and backends."},
		{codeNoUpstream, Error, "A runtime has neither upstream nor backends."},
		{codeBackendTarget, Error, "A backend has both pool and status, or neither."},
		{codeNoBackendWeight, Error, "All backends of a runtime have weight 0."},
		{codeNothingToServe, Error, "An application has neither a runtime nor routes."},
		{codeTLSWithoutHTTPS, Error, "TLS settings where no TLS is spoken, or where they belong to the pool."},
		{codeInvalidCertificate, Error, "A certificate, key or CA file does not hold what it should."},
		{codeInvalidKeyFile, Error, "The affinity key is shorter than 16 or longer than 4096 bytes."},
		{codeIgnoredKey, Warning, "The key has no effect where it stands."},
	}
}
