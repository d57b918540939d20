package client

import "net/http"

// RoundTrip sends a request to the daemon and returns its answer whatever the status is, the body still to come. It
// makes a Client the transport of programs that pass on requests which are not theirs, such as an
// [net/http/httputil.ReverseProxy]. Of the request's URL only path and query count. Timeout and MaxAnswer do not bound
// it, its context does.
//
// A daemon that takes no connection, or not this client, is an [*Unreachable].
func (c *Client) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context()) // a transport leaves the request as it is
	out.URL.Scheme, out.URL.Host, out.Host = "http", "localhost", "localhost"
	resp, err := c.send(out)
	if err != nil {
		return nil, ended(req.Context(), err)
	}
	return resp, nil
}
