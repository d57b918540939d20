package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

const (
	smallPath, smallSize = "/small", 113
	largePath, largeSize = "/large", 64 << 10
	uploadSize           = 1 << 10
	mostMembers          = 200
)

// members are ports of one nginx with one worker: the quickest server at hand, so that the proxies are
// what is measured.
type members struct {
	*program
	at []string
}

const memberConfig = `daemon off;
pid nginx.pid;
error_log stderr warn;
worker_processes 1;
{{if .Root}}user root;{{end}}
events { worker_connections 8192; }
http {
	access_log off;
	default_type text/plain;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	keepalive_requests 1000000000;
	keepalive_timeout 1h;
	sendfile on;
	tcp_nopush on;
	open_file_cache max=10 inactive=1h;
	server {
{{- range .Addresses}}
		listen {{.}};
{{- end}}
		location = {{.SmallPath}} { return 200 "{{.Small}}"; }
		location = {{.LargePath}} { root .; }
	}
}
`

func startMembers(ctx context.Context, nginx, dir string) (*members, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("starting the members: %w", err)
	}
	at, err := freeAddresses(mostMembers)
	if err != nil {
		return nil, fmt.Errorf("starting the members: %w", err)
	}
	values := map[string]any{
		"Addresses": at, "Root": isRoot(),
		"SmallPath": smallPath, "LargePath": largePath, "Small": strings.Repeat("m", smallSize),
	}
	if err := writeConfig(filepath.Join(dir, "nginx.conf"), memberConfig, values); err != nil {
		return nil, fmt.Errorf("starting the members: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, largePath), bytes.Repeat([]byte("m"), largeSize), 0o600); err != nil {
		return nil, fmt.Errorf("starting the members: %w", err)
	}
	p, err := start("members", dir, nginxCommand(nginx, dir), nil)
	if err != nil {
		return nil, err
	}
	ms := &members{program: p, at: at}
	for _, s := range scenarios() {
		s.tls = false // members speak plain HTTP to every proxy
		err := p.until(ctx, "members answer "+s.title, func() error { return try(ctx, at[len(at)-1], s) })
		if err != nil {
			p.stop()
			return nil, err
		}
	}
	return ms, nil
}

// nginxCommand runs the nginx.conf of a folder. What it would complain about before it has read that goes
// to the standard error, not to the system's log.
func nginxCommand(nginx, dir string) []string {
	return []string{nginx, "-p", dir, "-c", "nginx.conf", "-e", "stderr"}
}

// isRoot: nginx would give up root's rights in its workers, and with them its folder.
func isRoot() bool { return os.Getuid() == 0 }

// writeConfig fills in a text/template.
func writeConfig(file, text string, values any) error {
	t, err := template.New(filepath.Base(file)).Parse(text)
	if err != nil {
		return fmt.Errorf("writing configuration: %w", err)
	}
	var filled bytes.Buffer
	if err := t.Execute(&filled, values); err != nil {
		return fmt.Errorf("writing configuration: %w", err)
	}
	if err := os.WriteFile(file, filled.Bytes(), 0o600); err != nil {
		return fmt.Errorf("writing configuration: %w", err)
	}
	return nil
}
