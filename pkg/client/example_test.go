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
	daemon := client.Client{Socket: "/run/scalws/admin.sock", Timeout: 5 * time.Second}
	pools, err := daemon.Upstreams(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, pool := range pools {
		for _, member := range pool.Members {
			fmt.Println(pool.Name, member.Address, member.State)
		}
	}
}

func ExampleClient_SetMembers() {
	daemon := client.Client{Socket: "/run/scalws/admin.sock"}
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
