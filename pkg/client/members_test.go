package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// An edit that was too late is made again on the list as it is then.
func TestEditMembersBeginsAgain(t *testing.T) {
	revision := 1
	var put []api.SetMembers
	c := &client.Client{Socket: serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			if r.Header.Get("If-Match") != fmt.Sprintf(`"x.%d"`, revision) {
				t.Errorf("If-Match: %s at revision %d", r.Header.Get("If-Match"), revision)
			}
			var body api.SetMembers
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			put = append(put, body)
			if revision < 3 { // somebody else was there first
				revision++
				answer(412, api.ProblemType, `{"code":"precondition_failed"}`)(w, r)
				return
			}
		}
		fmt.Fprintf(w, `{"name":"api","etag":"\"x.%d\"","members":[{"address":"m%d:1","weight":%d}]}`, revision, revision, revision)
	})}
	calls := 0
	u, err := c.EditMembers(t.Context(), "api", func(list []api.SetMember) ([]api.SetMember, error) {
		calls++
		return append(list, api.SetMember{Address: "new:1"}), nil
	})
	if err != nil || u.Name != "api" || calls != 3 {
		t.Errorf("%v, %+v after %d edits", err, u, calls)
	}
	var want []api.SetMembers
	for n := range 3 {
		weight := n + 1
		want = append(want, api.SetMembers{Members: []api.SetMember{{Address: fmt.Sprintf("m%d:1", weight), Weight: &weight}, {Address: "new:1"}}})
	}
	if diff := cmp.Diff(want, put); diff != "" {
		t.Error(diff)
	}
}

func TestEditMembersEnds(t *testing.T) {
	given := errors.New("no such member")
	c := &client.Client{Socket: serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			answer(409, api.ProblemType, `{"code":"members_from_file"}`)(w, r)
			return
		}
		io.WriteString(w, `{"name":"api"}`)
	})}
	_, err := c.EditMembers(t.Context(), "api", func([]api.SetMember) ([]api.SetMember, error) { return nil, given })
	if err != given {
		t.Errorf("by its edit: %v", err)
	}
	_, err = c.EditMembers(t.Context(), "api", func(list []api.SetMember) ([]api.SetMember, error) { return list, nil })
	var problem *api.Problem
	if !errors.As(err, &problem) || problem.Status != 409 {
		t.Errorf("by a refusal: %v", err)
	}
}
