package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/scalws/scalws/pkg/api"
	"github.com/scalws/scalws/pkg/client"
)

func ExampleClient_Upstreams() {
	socket, stop := tiny() // usually "/run/scalws/admin.sock"
	defer stop()
	daemon := client.Client{Socket: socket, Timeout: 5 * time.Second}
	pools, err := daemon.Upstreams(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, pool := range pools {
		for _, member := range pool.Members {
			fmt.Println(pool.Name, member.Address, member.State)
		}
	}
	// Output:
	// api 192.0.2.5:8080 up
	// api 192.0.2.6:8080 ejected
}

func ExampleClient_Upstream() {
	socket, stop := tiny()
	defer stop()
	daemon := client.Client{Socket: socket}
	pool, err := daemon.Upstream(context.Background(), "api")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pool.Balance, "over", len(pool.Members), "members")
	// Output: round_robin over 2 members
}

func ExampleClient_SetMembers() {
	socket, stop := tiny()
	defer stop()
	daemon := client.Client{Socket: socket}
	double := 2
	pool, err := daemon.SetMembers(context.Background(), "api", []api.SetMember{
		{Address: "192.0.2.5:8080", Weight: &double},
		{Address: "192.0.2.6:8080"},
	})
	var problem *api.Problem
	switch {
	case errors.As(err, &problem) && problem.Code == api.CodeMembersFromFile:
		fmt.Println("this pool's members are in the configuration file")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println(pool.Name, "has", len(pool.Members), "members")
	}
	// Output: api has 2 members
}

// A list that was computed from one that was read is set only if nobody has changed it meanwhile.
func ExampleClient_SetMembersIf() {
	socket, stop := tiny()
	defer stop()
	daemon := client.Client{Socket: socket}
	ctx := context.Background()
	pool, err := daemon.Upstream(ctx, "api")
	if err != nil {
		log.Fatal(err)
	}
	_, err = daemon.SetMembersIf(ctx, "api", pool.ETag, []api.SetMember{{Address: pool.Members[0].Address}})
	var problem *api.Problem
	switch {
	case errors.As(err, &problem) && problem.Code == api.CodePreconditionFailed:
		fmt.Println("somebody else was quicker")
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println("done")
	}
	// Output: done
}

func ExampleClient_EditMembers() {
	socket, stop := tiny()
	defer stop()
	daemon := client.Client{Socket: socket}
	_, err := daemon.EditMembers(context.Background(), "api", func(members []api.SetMember) ([]api.SetMember, error) {
		return append(members, api.SetMember{Address: "192.0.2.7:8080"}), nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("added, and nobody's change is lost")
	// Output: added, and nobody's change is lost
}

func ExampleClient_Rehearse() {
	socket, stop := tiny()
	defer stop()
	daemon := client.Client{Socket: socket}
	change, err := daemon.Rehearse(context.Background(), "api", "", []api.SetMember{{Address: "192.0.2.5:8080"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, member := range change.Removed {
		fmt.Println("would remove", member.Address)
	}
	// Output: would remove 192.0.2.6:8080
}

func ExampleClient_Explain() {
	socket, stop := tiny()
	defer stop()
	daemon := client.Client{Socket: socket}
	e, err := daemon.Explain(context.Background(), "api", client.Asked{ClientIP: "203.0.113.9"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Member, "by", e.Reason)
	for _, other := range e.Others {
		fmt.Println("not", other.Address+":", other.Why)
	}
	// Output:
	// 192.0.2.5:8080 by rendezvous
	// not 192.0.2.6:8080: ejected until 2026-11-29T10:00:10.5Z
}

func ExampleClient_Preview() {
	socket, stop := tiny()
	defer stop()
	daemon := client.Client{Socket: socket}
	list := []api.SetMember{{Address: "192.0.2.5:8080"}}
	p, err := daemon.Preview(context.Background(), "api", list, []string{"alice", "bob"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Moved, "of", p.Keys, "keys would move")
	// Output: 1 of 2 keys would move
}

func ExampleClient_Events() {
	socket, stop := tiny()
	defer stop()
	daemon := client.Client{Socket: socket}
	past, err := daemon.Events(context.Background(), "api", 0)
	if err != nil {
		log.Fatal(err)
	}
	for _, event := range past.Events {
		fmt.Println(event.Seq, event.Kind, event.Member, event.Evidence[0].Cause)
	}
	// Output: 41 ejected 192.0.2.6:8080 reset
}

func ExampleClient_Follow() {
	socket, stop := tiny()
	defer stop()
	daemon := client.Client{Socket: socket}
	for event, err := range daemon.Follow(context.Background(), "api", 0) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Kind == api.EventEjected {
			fmt.Println(event.Member, "was ejected")
			break
		}
	}
	// Output: 192.0.2.6:8080 was ejected
}

func ExampleClient_Status() {
	socket, stop := tiny()
	defer stop()
	daemon := client.Client{Socket: socket}
	status, err := daemon.Status(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, listener := range status.Listeners {
		fmt.Println(status.Version, "listens on", listener.Address)
	}
	// Output: 1.0.0 listens on 0.0.0.0:80
}

func ExampleClient_Metrics() {
	socket, stop := tiny()
	defer stop()
	daemon := client.Client{Socket: socket}
	text, err := daemon.Metrics(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", text)
	// Output: scalws_upstream_members{pool="api"} 2
}

func ExampleClient_OpenAPI() {
	socket, stop := tiny()
	defer stop()
	daemon := client.Client{Socket: socket}
	document, err := daemon.OpenAPI(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", document)
	// Output: {"openapi":"3.1.0"}
}

// A daemon on another machine is reached over TLS, with a certificate that its admin.remote section lets in.
func ExampleClient_remote() {
	daemon := client.Client{
		Server: "https://lb1.example.com:9443",
		Cert:   "/etc/scalws/ops.pem", Key: "/etc/scalws/ops.key", CA: "/etc/scalws/ca.pem",
		Timeout: 5 * time.Second,
	}
	status, err := daemon.Status(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.Version)
}

func ExampleUnreachable() {
	daemon := client.Client{Socket: "/nowhere/admin.sock"}
	_, err := daemon.Status(context.Background())
	var unreachable *client.Unreachable
	if errors.As(err, &unreachable) {
		fmt.Println("no daemon at", unreachable.Socket)
	}
	// Output: no daemon at /nowhere/admin.sock
}
