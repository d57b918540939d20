package ctl

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"syscall"

	"github.com/scalws/scalws/pkg/client"
)

// elsewhere is how to name another daemon.
const elsewhere = "name another one with --server, --socket or --context"

// unreachableHint is what to do about a daemon that is not there.
func unreachableHint(err *client.Unreachable) string {
	if err.Server != "" {
		return unreachableServerHint(err.Err)
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "run it as root, or as a member of the group that owns the socket"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nobody listens there any more: start scalwsd"
	case errors.Is(err, syscall.EAGAIN):
		return "the daemon is there but takes no connection: too many wait for it; try again"
	case errors.Is(err, syscall.EINVAL):
		return "the path is too long for a socket: name a shorter one with --socket or SCALWSCTL_SOCKET"
	}
	return "start scalwsd, or name its socket with --socket or SCALWSCTL_SOCKET"
}

// unreachableServerHint is that for a daemon on another machine. A handshake fails on one of two sides: ours
// does not trust the server, or the server does not take our certificate and says so by an alert (RFC 8446
// section 6.2).
func unreachableServerHint(err error) string {
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the server's certificate has other names: use one of them in --server"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the server's certificate is not trusted: name the file of its CA with --ca"
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return "the server does not take this certificate: name one of its client CA with --cert and --key"
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "the name cannot be resolved: check it, or " + elsewhere
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "nobody listens there: start scalwsd with admin.remote, or " + elsewhere
	}
	return "start scalwsd with admin.remote there, or " + elsewhere
}

// explainUnreachable adds who named a daemon that is not there to what can be done about it.
func (s *session) explainUnreachable(err error) error {
	unreachable, ok := errors.AsType[*client.Unreachable](err)
	if !ok || s.chosen.by == "" {
		return err
	}
	return &failure{err: err, hint: fmt.Sprintf("%s (this one comes from %s)", unreachableHint(unreachable), s.chosen.by)}
}
