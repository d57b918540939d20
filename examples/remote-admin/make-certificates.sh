#!/bin/sh
# Makes a CA, the certificate of the daemon and those of two clients, in the folder of this script. They are good
# for a year. Keep ca.key where nobody else can read it: whoever has it can let anybody in.
set -eu
cd "$(dirname "$0")"

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj "/CN=scalws example CA" \
  -keyout ca.key -out ca.pem -addext "keyUsage=critical,keyCertSign,cRLSign"

# issue NAME USAGE ALTERNATIVE-NAMES
issue() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 365 -subj "/CN=$1" \
    -CA ca.pem -CAkey ca.key -keyout "$1.key" -out "$1.pem" \
    -addext "basicConstraints=critical,CA:FALSE" -addext "extendedKeyUsage=$2" -addext "subjectAltName=$3"
}
issue daemon serverAuth "DNS:localhost,IP:127.0.0.1"
issue ops clientAuth "DNS:ops"
issue dashboard clientAuth "DNS:dashboard"
