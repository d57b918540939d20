package http1

// splitTarget finds Path and authority in the target, by its form (RFC 9112 section 3.2).
func (r *Request) splitTarget() error {
	t := r.Target
	if len(t) == 0 || !isTargetText(t) {
		return malformed("invalid request target")
	}
	switch {
	case r.Method == CONNECT:
		return r.authorityForm()
	case t[0] == '/':
		r.Path = t
		return nil
	case len(t) == 1 && t[0] == '*' && r.Method == OPTIONS:
		r.Path = t
		return nil
	case len(t) > 7 && EqualFold(t[:7], "http://"):
		return r.absoluteForm(7, ":80")
	case len(t) > 8 && EqualFold(t[:8], "https://"):
		return r.absoluteForm(8, ":443")
	}
	return malformed("invalid request target")
}

// authorityForm is for CONNECT and nothing else; the port is part of it (RFC 9112 section 3.2.3).
func (r *Request) authorityForm() error {
	if !IsAuthority(r.Target) || len(portOf(r.Target)) < 2 {
		return malformed("invalid request target for CONNECT")
	}
	r.Path, r.authority, r.defaultPort = r.Target, r.Target, ":443"
	return nil
}

// absoluteForm splits a target whose authority begins at start (RFC 9112 section 3.2.2). Userinfo in it is
// refused, as RFC 9110 section 4.2.4 allows: it serves to deceive.
func (r *Request) absoluteForm(start int, defaultPort string) error {
	end := start
	for end < len(r.Target) && r.Target[end] != '/' && r.Target[end] != '?' {
		end++
	}
	authority, path := r.Target[start:end], r.Target[end:]
	if !IsAuthority(authority) {
		return malformed("invalid authority in the request target")
	}
	r.authority, r.defaultPort = authority, defaultPort
	switch {
	case len(path) > 0 && path[0] == '/':
		r.Path = path
	case len(path) == 0 && r.Method == OPTIONS:
		// What was "*" before the client made an absolute-form of it (RFC 9112 section 3.2.4).
		r.rewritten = append(r.rewritten[:0], '*')
		r.Path = r.rewritten
	default:
		r.rewritten = append(append(r.rewritten[:0], '/'), path...)
		r.Path = r.rewritten
	}
	return nil
}

// settleHost decides what the request is for. HTTP/1.1 requires Host, next to an absolute-form as well
// (RFC 9112 section 3.2). An empty one is refused too: no http or https URI has an empty host
// (RFC 9110 section 4.2.1).
//
// RFC 9112 section 3.2.2 has the target win over a Host that says otherwise. We refuse: the two were
// made to agree by every honest client.
func (r *Request) settleHost() error {
	switch {
	case r.Minor == 1 && len(r.Host) == 0:
		return malformed("no Host")
	case r.authority == nil:
		return nil
	case len(r.Host) > 0 && !sameAuthority(r.authority, r.Host, r.defaultPort):
		return malformed("Host contradicts the request target")
	}
	r.Host = r.authority
	return nil
}
