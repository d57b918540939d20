#!/usr/bin/env bash
# Records in which order a real nginx takes the servers of an upstream: Debian's package nginx, one worker,
# everything on loopback. Each set of weights becomes two lines of sequences.txt: the weights, and the names
# of the servers (a, b, c, ...) in the order of the answers, over three rounds of the sum of the weights.
#
#   apt-get install nginx curl
#   ./record.sh > sequences.txt
set -euo pipefail

sets=("5 1 1" "1 1 1" "4 3 2 1" "1 2 5" "7 3 3 1 1" "10 1" "1 10" "6 6 1 1 6" "100 1" "13 8 5 3 2 1 1" "1000 1 1" "17 17 3")
port=${PORT:-18900} # the first of a few dozen free ports

dir=$(mktemp -d)
trap 'kill "$(cat "$dir/pid")" 2>/dev/null || true; rm -rf "$dir"' EXIT

config() {
	echo "worker_processes 1; pid $dir/pid; error_log $dir/error.log;"
	echo "events { worker_connections 4096; }"
	echo "http { access_log off; client_body_temp_path $dir/b; proxy_temp_path $dir/p; fastcgi_temp_path $dir/f;"
	echo "uwsgi_temp_path $dir/u; scgi_temp_path $dir/s;"
	local next=$((port + ${#sets[@]})) names=abcdefghij
	for i in "${!sets[@]}"; do
		local n=0 servers=""
		for w in ${sets[i]}; do
			servers+="server 127.0.0.1:$next weight=$w; "
			echo "server { listen 127.0.0.1:$next; return 200 '${names:n:1} '; }"
			next=$((next + 1)) n=$((n + 1))
		done
		echo "upstream u$i { $servers keepalive 16; }"
		echo "server { listen 127.0.0.1:$((port + i)); location / { proxy_pass http://u$i; } }"
	done
	echo "}"
}

config >"$dir/nginx.conf"
nginx -c "$dir/nginx.conf" -p "$dir"

echo "# $(nginx -v 2>&1), recorded by record.sh"
for i in "${!sets[@]}"; do
	sum=0
	for w in ${sets[i]}; do sum=$((sum + w)); done
	echo "${sets[i]}"
	curl -sS "http://127.0.0.1:$((port + i))/[1-$((3 * sum))]" | sed 's/ $//'
	echo
done
