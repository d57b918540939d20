package admin

import (
	"errors"
	"net/http"
	"slices"

	"github.com/scalws/scalws/pkg/api"
)

// LetIn serves a page to everyone whom the remote listener lets in, whatever the role, and to browsers from wherever
// they were led to it: the page itself holds nothing. What it asks the API is answered under the API's own guard.
func LetIn(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		current, isRemote := r.Context().Value(remoteKey{}).(func() *Remote)
		err := forbidden("this is only served over the network")
		if isRemote {
			_, _, err = current().identify(r)
		}
		if problem, refused := errors.AsType[*api.Problem](err); refused {
			// What fails here is the connection, and there is nobody left to tell.
			_ = encode(w, problem.Status, api.ProblemType, problem)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// isOwnPage tells whether a page of this very listener has asked, to read. The console is the only one that there is. A
// browser says so itself, and no page can have it say anything else
// (https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header).
func isOwnPage(r *http.Request) bool {
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	return reads && slices.Equal(r.Header.Values("Sec-Fetch-Site"), []string{"same-origin"}) &&
		r.Header.Get("Origin") == ""
}
