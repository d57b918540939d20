package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

// TestConfigurationCalls holds what the calls about the configuration send and make of the answer.
func TestConfigurationCalls(t *testing.T) {
	plan := api.Plan{Result: "valid", Pools: []api.PoolPlan{{Name: "p", Action: "rebuilt", Because: []string{"balance"}, Loses: &api.Loses{InFlight: 3}}},
		Listeners: []api.ListenerPlan{}, Applications: []api.ApplicationPlan{}, Settings: []string{}}
	const planText = `{"result":"valid","pools":[{"name":"p","action":"rebuilt","because":["balance"],"loses":{"in_flight":3}}],"listeners":[],"applications":[],"settings":[]}`
	for name, test := range map[string]struct {
		call            func(c *client.Client) (any, error)
		request, answer string
		want            any
	}{
		"config": {func(c *client.Client) (any, error) {
			text, err := c.Config(t.Context())
			return string(text), err
		}, "GET /v1/config  ", `{"server":{}}`, `{"server":{}}`},
		"plan": {func(c *client.Client) (any, error) { return c.Plan(t.Context(), []byte("server: {}\n")) },
			"POST /v1/config/plan application/yaml server: {}\n", planText, plan},
		"plan of nothing": {func(c *client.Client) (any, error) { return c.Plan(t.Context(), nil) },
			"POST /v1/config/plan application/yaml ", planText, plan},
		"reload": {func(c *client.Client) (any, error) { return c.Reload(t.Context()) }, "POST /v1/reload  ", planText, plan},
	} {
		t.Run(name, func(t *testing.T) {
			var request string
			c := &client.Client{Socket: serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				request = fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Content-Type"), body)
				if err != nil {
					request += err.Error()
				}
				answer(200, "application/json", test.answer)(w, r)
			})}
			got, err := test.call(c)
			if err != nil || request != test.request {
				t.Errorf("sent %q, want %q; %v", request, test.request, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			refuses := &client.Client{Socket: serve(t, answer(400, api.ProblemType,
				`{"status":400,"code":"invalid_configuration","detail":"no","errors":[{"path":"a","detail":"b","file":"f","line":1,"column":2,"code":"c"}]}`))}
			var problem *api.Problem
			if _, err := test.call(refuses); !errors.As(err, &problem) || problem.Code != api.CodeInvalidConfig ||
				problem.Errors[0] != (api.FieldError{Path: "a", Detail: "b", File: "f", Line: 1, Column: 2, Code: "c"}) {
				t.Errorf("refused: %v", err)
			}
			var unreachable *client.Unreachable
			if _, err := test.call(&client.Client{Socket: "/nowhere/admin.sock"}); !errors.As(err, &unreachable) {
				t.Errorf("nobody there: %v", err)
			}
		})
	}
	var problem *api.Problem
	if _, err := (&client.Client{}).Plan(t.Context(), []byte(strings.Repeat("x", api.MaxBody+1))); !errors.As(err, &problem) || problem.Status != 413 {
		t.Errorf("too large: %v", err)
	}
}

func ExampleClient_Plan() {
	daemon := client.Client{Socket: "/run/scalws/admin.sock"}
	plan, err := daemon.Plan(context.Background(), []byte("server: ..."))
	var problem *api.Problem
	switch {
	case errors.As(err, &problem):
		for _, e := range problem.Errors {
			fmt.Printf("%s:%d:%d: %s: %s\n", e.File, e.Line, e.Column, e.Path, e.Detail)
		}
	case err != nil:
		log.Fatal(err)
	}
	for _, pool := range plan.Pools {
		fmt.Println(pool.Name, "would be", pool.Action, strings.Join(pool.Because, ", "))
	}
}

func ExampleClient_Reload() {
	daemon := client.Client{Socket: "/run/scalws/admin.sock"}
	done, err := daemon.Reload(context.Background())
	if err != nil {
		log.Fatal(err) // everything is as before
	}
	fmt.Println(len(done.Pools), "pools")
}

func ExampleClient_Config() {
	daemon := client.Client{Socket: "/run/scalws/admin.sock"}
	effective, err := daemon.Config(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", effective)
}
