package main

import (
	"fmt"
	"slices"
	"strings"
)

// scenario is one kind of load, the same for every proxy.
type scenario struct {
	name        string // as -only has it
	title       string // as the table has it
	connections int    // of the clients
	path        string // smallPath or largePath
	post        bool   // send uploadSize bytes
	closing     bool   // a new connection for each request
	members     int    // of the pool
	leastConn   bool   // else round robin
	tls         bool   // clients speak TLS 1.3
}

func scenarios() []scenario {
	return []scenario{
		{name: "small-4", title: "small answers, 4 connections", connections: 4, path: smallPath, members: 4},
		{name: "small-64", title: "small answers, 64 connections", connections: 64, path: smallPath, members: 4},
		{name: "small-256", title: "small answers, 256 connections", connections: 256, path: smallPath, members: 4},
		{name: "large-64", title: "64 KiB answers, 64 connections", connections: 64, path: largePath, members: 4},
		{name: "post-64", title: "1 KiB POSTs, 64 connections", connections: 64, path: smallPath, post: true, members: 4},
		{name: "tls-64", title: "small answers over TLS, 64 connections", connections: 64, path: smallPath, members: 4, tls: true},
		{name: "close-64", title: "a new connection for each request, 64 at once", connections: 64, path: smallPath, closing: true, members: 4},
		{name: "least-64", title: "least_conn over 200 members, 64 connections", connections: 64, path: smallPath, members: mostMembers, leastConn: true},
	}
}

func names(list []scenario) []string {
	all := make([]string, 0, len(list))
	for _, s := range list {
		all = append(all, s.name)
	}
	return all
}

// choose picks by a list of names, in the order of the scenarios; an empty list is all of them.
func choose(from []scenario, only string) ([]scenario, error) {
	if only == "" {
		return from, nil
	}
	wanted := strings.Split(only, ",")
	known := names(from)
	for _, name := range wanted {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("-only %s: no scenario of that name; there are %s", name, strings.Join(known, ", "))
		}
	}
	return slices.DeleteFunc(from, func(s scenario) bool { return !slices.Contains(wanted, s.name) }), nil
}

// url of the scenario's requests at a proxy.
func (s scenario) url(address string) string {
	if s.tls {
		return "https://" + address + s.path
	}
	return "http://" + address + s.path
}

// answerSize is the number of bytes of an answer's body.
func (s scenario) answerSize() int64 {
	if s.path == largePath {
		return largeSize
	}
	return smallSize
}
