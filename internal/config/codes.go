package config

import "github.com/scalws/scalws/internal/strict"

// The codes of problems besides those that any text can have. They are stable: scripts compare them.
const (
	codeUnreadableFile        = "unreadable_file"
	codeInvalidName           = "invalid_name"
	codeInvalidAddress        = "invalid_address"
	codeInvalidPrefix         = "invalid_prefix"
	codeInvalidFilePath       = "invalid_file_path"
	codeInvalidMode           = "invalid_mode"
	codeOpenSocket            = "open_socket"
	codeInvalidCookieName     = "invalid_cookie_name"
	codeInvalidHeaderName     = "invalid_header_name"
	codeInvalidHostName       = "invalid_host_name"
	codeInvalidDomain         = "invalid_domain"
	codeInvalidRoutePath      = "invalid_route_path"
	codeInvalidMember         = "invalid_member"
	codeNoMembers             = "no_members"
	codeDuplicateName         = "duplicate_name"
	codeDuplicateAddress      = "duplicate_address"
	codeSameFile              = "same_file"
	codeDuplicateDomain       = "duplicate_domain"
	codeDuplicateRoute        = "duplicate_route"
	codeUnknownPool           = "unknown_pool"
	codeUpstreamBackends      = "upstream_and_backends"
	codeNoUpstream            = "no_upstream"
	codeBackendTarget         = "backend_target"
	codeNoBackendWeight       = "no_backend_weight"
	codeOtherType             = "key_of_other_type"
	codeInvalidContentType    = "invalid_content_type"
	codeInvalidRedirect       = "invalid_redirect"
	codeStatusWithoutBody     = "status_without_body"
	codeNothingToServe        = "nothing_to_serve"
	codeTLSWithoutHTTPS       = "tls_without_https"
	codeHTTP2WithoutTLS       = "http2_without_tls"
	codeH2CWithTLS            = "h2c_with_tls"
	codeReusePortUnix         = "reuse_port_unix"
	codeNoTrustedProxies      = "no_trusted_proxies"
	codeTwoFormsOfCertificate = "certificates_and_cert_file"
	codeInvalidCertificate    = "invalid_certificate"
	codeCertificateDates      = "certificate_dates"
	codeDuplicateCertificate  = "duplicate_certificate"
	codeInvalidKeyFile        = "invalid_key_file"
	codeIgnoredKey            = "ignored_key"
	codeLongWait              = "long_wait"
	codeShortCooldown         = "short_cooldown"
	codeTinyShare             = "tiny_share"
	codeHTTPSWithoutKeepalive = "https_without_keepalive"
	codeHashOneMember         = "hash_one_member"
	codeNoTimeLimit           = "no_time_limit"
	codeShortShutdown         = "short_shutdown"
	codeInvalidPattern        = "invalid_pattern"
	codeNoSites               = "no_sites"
	codePoolsInSite           = "pools_in_site"
	codeProxyAndRuntime       = "proxy_and_runtime"
	codeInvalidMethod         = "invalid_method"
	codeReservedHeader        = "reserved_header"
	codeInvalidHeaderValue    = "invalid_header_value"
	codeDuplicateHeader       = "duplicate_header"
	codeInvalidRegex          = "invalid_regex"
	codeInvalidReplacement    = "invalid_replacement"
	codeInvalidOrigin         = "invalid_origin"
	codeCORSCredentials       = "cors_credentials"
	codeInvalidHtpasswd       = "invalid_htpasswd"
	codeEmptyPolicy           = "empty_policy"
	codeRouteMatch            = "route_match"
)

// Code describes one sort of problem.
type Code struct {
	Code     string
	Severity strict.Severity
	// Meaning is one sentence for the manual.
	Meaning string
}

// Codes are all codes that a problem can have, in the order in which the checks are made.
func Codes() []Code {
	return []Code{
		{codeUnreadableFile, strict.Error, "The file, or a file that it names, cannot be read or is not a regular file."},
		{strict.CodeFileTooLarge, strict.Error, "The file is larger than 4MiB, or a file that it names larger than 1MiB."},
		{strict.CodeNotUTF8, strict.Error, "The text is not UTF-8."},
		{strict.CodeInvalidYAML, strict.Error, "The text is not YAML, or holds a control character."},
		{strict.CodeEmptyFile, strict.Error, "The file has no content, or only comments."},
		{strict.CodeSeveralDocuments, strict.Error, "A second document follows."},
		{strict.CodeAnchorOrAlias, strict.Error, "An anchor, an alias or a merge key is used."},
		{strict.CodeTag, strict.Error, "A value has a tag, such as !!str."},
		{strict.CodeNestedTooDeep, strict.Error, "Values lie more than 32 levels deep."},
		{strict.CodeUnknownKey, strict.Error, "There is no such key in this section."},
		{strict.CodeDuplicateKey, strict.Error, "The key was given before in the same section."},
		{strict.CodeMissingKey, strict.Error, "A required key is absent."},
		{strict.CodeWrongType, strict.Error, "The value is of another type than the key takes."},
		{strict.CodeOutOfRange, strict.Error, "A number, size, duration, text or list is outside its bound."},
		{strict.CodeInvalidChoice, strict.Error, "The text is none of those that the key takes."},
		{strict.CodeInvalidDuration, strict.Error, "Not a duration such as 500ms or 1m30s."},
		{strict.CodeInvalidSize, strict.Error, "Not a size such as 64KiB or a number of bytes."},
		{strict.CodeInvalidText, strict.Error, "The text is empty or holds a byte that it must not."},
		{codeInvalidName, strict.Error, "A name has a character that names do not have."},
		{codeInvalidAddress, strict.Error, "Not an address of the form that the key takes."},
		{codeInvalidPrefix, strict.Error, "Not a network such as 10.0.0.0/8, nor an address."},
		{codeInvalidFilePath, strict.Error, "The path must be absolute, or is too long for a socket."},
		{codeInvalidMode, strict.Error, "Not a file mode such as \"0660\", or one that locks the owner out."},
		{codeOpenSocket, strict.Error, "The mode would let every user of the machine control the daemon."},
		{codeInvalidCookieName, strict.Error, "Not a name that a cookie can have."},
		{codeInvalidHeaderName, strict.Error, "Not a name that a header can have."},
		{codeInvalidHostName, strict.Error, "Neither a host name nor an IP address."},
		{codeInvalidDomain, strict.Error, "Not a domain, *.domain or *."},
		{codeInvalidRoutePath, strict.Error, "Not a path that a request can have."},
		{codeInvalidMember, strict.Error, "The address of a member is malformed, given twice, or not allowed in this pool."},
		{codeNoMembers, strict.Warning, "A pool whose members come from the file has none: it answers 503."},
		{codeDuplicateName, strict.Error, "Two listeners, tenants or applications of a tenant have the same name."},
		{codeDuplicateAddress, strict.Error, "Two listeners have the same address; those of the metrics and of the admin API count as such."},
		{codeSameFile, strict.Error, "Two keys name one file, which cannot be both."},
		{codeDuplicateDomain, strict.Error, "A domain is given twice, in one application or in two."},
		{codeDuplicateRoute, strict.Error, "An application has two routes that take the same requests."},
		{codeUnknownPool, strict.Error, "A runtime names a pool that upstreams does not have."},
		{codeUpstreamBackends, strict.Error, "A runtime has both upstream and backends."},
		{codeNoUpstream, strict.Error, "A runtime has neither upstream nor backends."},
		{codeBackendTarget, strict.Error, "A backend has both pool and status, or neither."},
		{codeNoBackendWeight, strict.Error, "All backends of a runtime have weight 0."},
		{codeOtherType, strict.Error, "A runtime has a key that is for runtimes of another type."},
		{codeInvalidContentType, strict.Error, "Not a media type such as text/html."},
		{codeStatusWithoutBody, strict.Error, "A fixed answer has a body and a status that has none."},
		{codeNothingToServe, strict.Error, "An application has neither a runtime nor routes nor a redirect, or a route neither a runtime nor a redirect."},
		{codeTLSWithoutHTTPS, strict.Error, "TLS settings where no TLS is spoken, or where they belong to the pool."},
		{codeHTTP2WithoutTLS, strict.Error, "http2 on a listener without tls; without TLS it is h2c."},
		{codeH2CWithTLS, strict.Error, "h2c on a listener with tls; with TLS it is http2."},
		{codeReusePortUnix, strict.Error, "reuse_port on a unix socket, which has no port."},
		{codeNoTrustedProxies, strict.Warning, "A listener takes the PROXY protocol and trusts nobody: it refuses every connection."},
		{codeTwoFormsOfCertificate, strict.Error, "A listener has both certificates and cert_file."},
		{codeInvalidCertificate, strict.Error, "A certificate, key, CA file or revocation list does not hold what it should."},
		{codeCertificateDates, strict.Warning, "A certificate has expired, or is not valid yet."},
		{codeDuplicateCertificate, strict.Warning, "Two certificates of a listener have the same name: the first is used."},
		{codeInvalidKeyFile, strict.Error, "The affinity key is shorter than 16 or longer than 4096 bytes."},
		{codeInvalidPattern, strict.Error, "The pattern of the site files is malformed."},
		{codeNoSites, strict.Warning, "No file fits the pattern of the site files."},
		{codePoolsInSite, strict.Error, "A site file has upstreams."},
		{codeProxyAndRuntime, strict.Error, "A site file has both proxy and runtime."},
		{codeInvalidMethod, strict.Error, "Not a method that requests are forwarded with."},
		{codeReservedHeader, strict.Error, "A field that the daemon itself is in charge of."},
		{codeInvalidHeaderValue, strict.Error, "Not a value that a header can have."},
		{codeDuplicateHeader, strict.Error, "A field is removed or set twice."},
		{codeInvalidRegex, strict.Error, "Not a regular expression in the syntax of RE2."},
		{codeInvalidReplacement, strict.Error, "A replacement has a character that paths do not have, or names a group that there is not."},
		{codeInvalidRedirect, strict.Error, "Not a place or a status that a request can be redirected to or with."},
		{codeInvalidOrigin, strict.Error, "Not an origin as browsers send it, or * next to others."},
		{codeCORSCredentials, strict.Error, "CORS with credentials for the origin *."},
		{codeInvalidHtpasswd, strict.Error, "The file of users cannot be read: it has no user, or another hash than bcrypt and argon2id."},
		{codeEmptyPolicy, strict.Error, "A policy without a key."},
		{codeRouteMatch, strict.Error, "A route has none of path, exact and regex, or two of them; a header condition has value and regex."},
		{codeIgnoredKey, strict.Warning, "The key has no effect where it stands."},
		{codeLongWait, strict.Warning, "All attempts of a request together take longer than clients wait."},
		{codeShortCooldown, strict.Warning, "A cooldown is shorter than the timeout by which a member that hangs is found out."},
		{codeTinyShare, strict.Warning, "A weight gives a member less than 0.5 % of the requests."},
		{codeHTTPSWithoutKeepalive, strict.Warning, "No connection to the members of an https pool is kept."},
		{codeHashOneMember, strict.Warning, "A pool hashes a key and has one member."},
		{codeNoTimeLimit, strict.Warning, "A timeout of 0 leaves a request waiting for ever."},
		{codeShortShutdown, strict.Warning, "The daemon stops before the answers that it waits for can come."},
	}
}
