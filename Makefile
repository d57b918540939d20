# What there is to do in this repository. "make" alone prints the list.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
# One after the other: the Go tools use every core by themselves.
.NOTPARALLEL:

# VERSION goes into the programs; empty, they tell the revision that Go records.
VERSION ?=
LDFLAGS := $(if $(VERSION),-ldflags '-X main.version=$(VERSION)')
# FUZZTIME is how long each fuzz target runs.
FUZZTIME ?= 30s
# COVERAGE of the engine, in percent, that is enough.
COVERAGE ?= 95
# SOAKFLAGS go to the soak program.
SOAKFLAGS ?=
# PEERSFLAGS go to the comparison with other proxies.
PEERSFLAGS ?=

INTERNALS := ./pkg/server/internal

.PHONY: help build test race check format vet lint tidy fresh generate fuzz shells bench bench-peers cover soak soak-race h2spec console-shots clean

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

build: ## Build scalwsd and scalwsctl into bin/; VERSION=1.2.3 names the version
	mkdir -p bin
	go build -trimpath $(LDFLAGS) -o bin/ ./cmd/...

test: ## Run the tests
	go test ./...

race: ## Run the tests with the race detector
	go test -race ./...

check: format vet lint tidy fresh race ## Run all that a change has to pass

format: ## Fail if a file is not formatted by gofmt
	@unformatted=$$(gofmt -l .); \
	if [ -n "$$unformatted" ]; then echo "run gofmt -w on:"; echo "$$unformatted"; exit 1; fi

vet: ## Run go vet
	go vet ./...

lint: ## Run staticcheck; staticcheck.conf says what for
	go tool staticcheck ./...

tidy: ## Fail if go.mod or go.sum is not tidy
	go mod tidy -diff

fresh: ## Generate again and fail if a file changes
	@sums() { git ls-files -coz --exclude-standard | xargs -0 sha256sum 2>/dev/null || true; }; \
	before=$$(sums); \
	go generate ./...; \
	diff <(echo "$$before") <(sums) || { echo "generated files were stale; they are fresh now, commit them"; exit 1; }

generate: ## Write the completions and man pages again
	go generate ./...

fuzz: ## Run every fuzz target for FUZZTIME (30s)
	@git ls-files -co --exclude-standard '*_test.go' | xargs -r grep -HoE '^func Fuzz[A-Za-z0-9_]*' | \
	while IFS=: read -r file target; do \
		target=$${target#func }; \
		echo "fuzz: ./$$(dirname "$$file") $$target"; \
		go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "./$$(dirname "$$file")" </dev/null; \
	done

shells: ## Drive the completions in bash, zsh and fish; installs what is missing
	@missing=(); \
	for shell in zsh fish; do command -v $$shell >/dev/null || missing+=($$shell); done; \
	[ -e /usr/share/bash-completion/bash_completion ] || missing+=(bash-completion); \
	if (( $${#missing[@]} )); then \
		$$([ $$(id -u) = 0 ] || echo sudo) apt-get install -y --no-install-recommends "$${missing[@]}"; \
	fi
	SHELLS_REQUIRED=1 go test -count=1 -run 'Complete' ./cmd/scalwsctl

bench: ## Run the benchmarks of the hot path
	go test -run '^$$' -bench . -benchmem ./pkg/lb ./pkg/server $(INTERNALS)/http1 $(INTERNALS)/route $(INTERNALS)/accesslog $(INTERNALS)/metrics

bench-peers: ## Compare with nginx, HAProxy and Caddy; installs what is missing
	@export PATH="$$PATH:/usr/sbin"; missing=(); \
	for program in nginx haproxy caddy wrk; do command -v $$program >/dev/null || missing+=($$program); done; \
	if (( $${#missing[@]} )); then \
		$$([ $$(id -u) = 0 ] || echo sudo) apt-get install -y --no-install-recommends "$${missing[@]}"; \
	fi
	go run ./bench/peers $(PEERSFLAGS)

cover: ## Fail if the tests of the engine cover less than COVERAGE (95) percent of it
	mkdir -p bin
	go test -coverprofile bin/lb.cover ./pkg/lb
	@go tool cover -func bin/lb.cover | awk -v least=$(COVERAGE) \
		'/^total:/ { print; got = $$NF + 0 } END { if (got < least) { print "less than " least "%"; exit 1 } }'

soak: ## Load a daemon while everything around it goes wrong; takes 15 minutes, needs h2load
	@command -v h2load >/dev/null || { echo "h2load is missing: apt-get install nghttp2-client"; exit 1; }
	go run ./bench/soak $(SOAKFLAGS)

soak-race: ## The same with the race detector in the daemon
	@$(MAKE) --no-print-directory soak SOAKFLAGS="-race $(SOAKFLAGS)"

h2spec: ## Hold HTTP/2 against the h2spec tests; fetches the program
	go run ./bench/h2spec

console-shots: ## Look at the web console in a browser and take screenshots; installs chromium
	@command -v chromium >/dev/null || $$([ $$(id -u) = 0 ] || echo sudo) apt-get install -y --no-install-recommends chromium
	go run ./bench/console

clean: ## Remove what was built
	rm -rf bin dist
