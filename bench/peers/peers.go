package main

import (
	"os"
	"path/filepath"
	"strconv"

	"github.com/scalws/scalws/bench/pair"
)

// peer is a proxy that is compared: its configuration and how it is started with it.
type peer struct {
	name   string // of the program too, as find has it
	file   string // name of its configuration
	config string // template over a setup
	// command gets the program and the folder, which holds the configuration.
	command func(program, dir string) []string
	env     func(s setup) []string // beyond this command's own; nil: none
}

// setup is what every configuration has to express.
type setup struct {
	Dir     string
	Address string // of the listener
	Metrics string // of another listener with /metrics
	Log     string // file of the access log
	Threads int
	Members []string
	// LeastConn balances by requests in flight, else round robin.
	LeastConn bool
	// Idle is how many idle connections to members may be kept: enough for all clients.
	Idle int
	// TLS is the listener's certificate; nil: plain HTTP.
	TLS  *pair.Files
	Root bool // isRoot
}

// peers are in the order of the tables. Each has its access log buffered or not as suits it best, reuses
// connections to members for any client, tells members the client's address, and has metrics on.
func peers() []peer {
	return []peer{
		{
			name: "scalws", file: "scalws.yaml", config: scalwsConfig,
			command: func(program, dir string) []string {
				return []string{program, "--config", "scalws.yaml", "--admin-socket", filepath.Join(dir, "admin.sock"), "--log-level", "warn"}
			},
			env: goThreads,
		},
		{name: "nginx", file: "nginx.conf", config: nginxConfig, command: nginxCommand},
		{
			name: "haproxy", file: "haproxy.cfg", config: haproxyConfig,
			command: func(program, _ string) []string { return []string{program, "-db", "-f", "haproxy.cfg"} },
		},
		{
			name: "caddy", file: "Caddyfile", config: caddyConfig,
			command: func(program, _ string) []string {
				return []string{program, "run", "--config", "Caddyfile", "--adapter", "caddyfile"}
			},
			env: func(s setup) []string {
				return append(goThreads(s), "HOME="+s.Dir, "XDG_CONFIG_HOME="+s.Dir, "XDG_DATA_HOME="+s.Dir)
			},
		},
	}
}

func goThreads(s setup) []string { return []string{"GOMAXPROCS=" + strconv.Itoa(s.Threads)} }

// launch writes the configuration and starts the proxy.
func (p peer) launch(program string, s setup) (*program, error) {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	if err := writeConfig(filepath.Join(s.Dir, p.file), p.config, s); err != nil {
		return nil, err
	}
	var env []string
	if p.env != nil {
		env = p.env(s)
	}
	return start(p.name, s.Dir, p.command(program, s.Dir), env)
}

const scalwsConfig = `server:
  listeners: [{name: http, address: "{{.Address}}"{{with .TLS}}, tls: {cert_file: "{{.Cert}}", key_file: "{{.Key}}"}{{end}}}]
metrics: {address: "{{.Metrics}}"}
access_log: {output: "{{.Log}}"}
upstreams:
  p:
    balance: {{if .LeastConn}}least_conn{{else}}round_robin{{end}}
    keepalive: {{.Idle}}
    members:
{{- range .Members}}
      - {address: "{{.}}"}
{{- end}}
tenants: [{name: t, applications: [{name: a, domains: ["*"], runtime: {type: proxy, upstream: {pool: p}}}]}]
`

// The buffers hold a large answer, so that none goes through a file; the log is written at least once a
// second, as ours is.
const nginxConfig = `daemon off;
pid nginx.pid;
error_log stderr warn;
worker_processes {{.Threads}};
{{if .Root}}user root;{{end}}
events { worker_connections 8192; }
http {
	access_log {{.Log}} combined buffer=64k flush=1s;
	client_body_temp_path body;
	proxy_temp_path proxy;
	fastcgi_temp_path fastcgi;
	uwsgi_temp_path uwsgi;
	scgi_temp_path scgi;
	keepalive_requests 1000000000;
	upstream members {
		{{if .LeastConn}}least_conn;{{end}}
{{- range .Members}}
		server {{.}};
{{- end}}
		keepalive {{.Idle}};
		keepalive_requests 1000000000;
	}
	server {
		listen {{.Address}}{{if .TLS}} ssl{{end}};
{{- with .TLS}}
		ssl_certificate {{.Cert}};
		ssl_certificate_key {{.Key}};
		ssl_protocols TLSv1.2 TLSv1.3;
{{- end}}
		location / {
			proxy_pass http://members;
			proxy_http_version 1.1;
			proxy_buffers 16 8k;
			proxy_set_header Connection "";
			proxy_set_header Host $http_host;
			proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
			proxy_set_header X-Forwarded-Proto $scheme;
		}
	}
	server {
		listen {{.Metrics}};
		access_log off;
		location = /metrics { stub_status; }
	}
}
`

// With the default of http-reuse, "safe", a client that sends one request on its connection would never
// be given an idle connection to a member.
const haproxyConfig = `global
	nbthread {{.Threads}}
	maxconn 4096
	log stdout format raw local0 info
defaults
	mode http
	timeout connect 5s
	timeout client 75s
	timeout server 60s
frontend http
	bind {{.Address}}{{with .TLS}} ssl crt {{.Both}}{{end}}
	log global
	option httplog
	option forwardfor
	default_backend members
backend members
	balance {{if .LeastConn}}leastconn{{else}}roundrobin{{end}}
	http-reuse always
	default-server pool-max-conn {{.Idle}} pool-purge-delay 60s
{{- range $i, $address := .Members}}
	server m{{$i}} {{$address}}
{{- end}}
frontend metrics
	bind {{.Metrics}}
	http-request use-service prometheus-exporter if { path /metrics }
`

const caddyConfig = `{
	admin off
	auto_https off
	servers {
		metrics
	}
	log {
		level WARN
	}
}
{{if .TLS}}https{{else}}http{{end}}://{{.Address}} {
{{- with .TLS}}
	tls {{.Cert}} {{.Key}}
{{- end}}
	log {
		output file {{.Log}} {
			roll_disabled
		}
		level INFO
	}
	reverse_proxy{{range .Members}} {{.}}{{end}} {
		lb_policy {{if .LeastConn}}least_conn{{else}}round_robin{{end}}
		transport http {
			keepalive_idle_conns_per_host {{.Idle}}
			compression off
		}
	}
}
http://{{.Metrics}} {
	metrics /metrics
}
`
