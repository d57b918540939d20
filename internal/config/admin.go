package config

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"path/filepath"
	"time"

	"github.com/scalws/scalws/internal/strict"
)

// maxAllowed bounds the list of certificate names of admin.remote.
const maxAllowed = 1000

// Bounds of admin.state_max_age.
const (
	minStateAge = time.Minute
	maxStateAge = 365 * day
	// defaultStateAge is what the table of keys says, too.
	defaultStateAge = 7 * day
)

// Admin is how the daemon is looked into and changed.
type Admin struct {
	Socket AdminSocket
	// Remote is the listener for other machines; nil for none.
	Remote *AdminRemote
	// AuditLog is "stderr" or the path of the file that gets a line for each change.
	AuditLog string
	// RuntimeMembers is false where no member list may be set through the API.
	RuntimeMembers bool
	// StateFile keeps the lists that were set at run time over restarts; empty: they are in memory only. It is
	// empty too where RuntimeMembers is false.
	StateFile string
	// StateMaxAge is how old a StateFile may be and still be read.
	StateMaxAge time.Duration
}

// AdminSocket is the unix socket of the admin API.
type AdminSocket struct {
	// Path is empty for the default of the user that runs the daemon.
	Path string
	// Mode of the socket file, for example 0660.
	Mode uint32
	// Group that owns the socket file; empty leaves the process's group.
	Group string
}

// AdminRemote is the admin API over TLS. Who has no certificate of the client CA gets no answer.
type AdminRemote struct {
	// Address is "ip:port" or "[ipv6]:port".
	Address string
	// KeyPair is what the listener shows to clients.
	KeyPair KeyPair
	// ClientCAFile has the CAs of the clients' certificates.
	ClientCAFile string
	// CRLFile has the revocation lists of those CAs; empty: nothing is revoked.
	CRLFile string
	// Allow lists who may do what; empty: every certificate of the CA is an administrator's.
	Allow []AdminAllow
}

// AdminAllow is a certificate name and what it may do.
type AdminAllow struct {
	// Name is the common name of a certificate, or one of its DNS, e-mail or URI names.
	Name string
	// Viewer may look and rehearse; otherwise everything is allowed.
	Viewer bool
}

// adminFields are the keys of admin.
func adminFields(a *Admin) []strict.Field {
	return []strict.Field{
		{Name: "socket", Kind: strict.Section([]strict.Field{
			{Name: "path", Otherwise: "by user", Kind: strict.Scalar(&a.Socket.Path, socketPath()),
				Meaning: "The socket file. Without it: /run/scalws/admin.sock for root, else a folder of the user that runs the daemon."},
			{Name: "mode", Def: "0660", Kind: strict.Scalar(&a.Socket.Mode, mode()),
				Meaning: "Permissions of the socket file, octal. Others get none."},
			{Name: "group", Otherwise: "the process's", Kind: strict.Scalar(&a.Socket.Group, strict.Text()),
				Meaning: "Group that owns the socket file."},
		}), Meaning: "The unix socket of the admin API."},
		{Name: "remote", Otherwise: "no listener", Kind: strict.Pointer(&a.Remote, func(r *AdminRemote) strict.Kind {
			return strict.Section(remoteFields(r))
		}), Meaning: "The admin API for other machines, over TLS 1.3 with certificates on both sides."},
		{Name: "audit_log", Def: "stderr", Kind: strict.Scalar(&a.AuditLog, filePath("stderr")),
			Meaning: "Where a line for each change goes, done or refused."},
		{Name: "runtime_members", Def: "true", Kind: strict.Scalar(&a.RuntimeMembers, strict.Truth()),
			Meaning: "false refuses every list of members that is sent to the API, with 501."},
		{Name: "state_file", Otherwise: "in memory only", Kind: strict.Scalar(&a.StateFile, filePath()),
			Meaning: "Keeps the lists that were set at run time over restarts."},
		{Name: "state_max_age", Def: "7d", Kind: strict.Scalar(&a.StateMaxAge, strict.Duration(minStateAge, maxStateAge)).Only(
			func() bool { return a.StateFile != "" }),
			Meaning: "A state file that was written longer ago is not read."},
	}
}

// remoteFields are the keys of admin.remote.
func remoteFields(r *AdminRemote) []strict.Field {
	return []strict.Field{
		{Name: "address", Need: true, Kind: strict.Scalar(&r.Address, listenAddress(false)),
			Meaning: "Where it listens."},
		{Name: "cert_file", Need: true, Kind: namedFile(&r.KeyPair.CertFile),
			Meaning: "Certificate of the listener, PEM, with its chain."},
		{Name: "key_file", Need: true, Kind: namedFile(&r.KeyPair.KeyFile),
			Meaning: "Its key, PEM."},
		{Name: "client_ca_file", Need: true, Kind: namedFile(&r.ClientCAFile),
			Meaning: "CA certificates that a client's must come from, PEM."},
		{Name: "crl_file", Otherwise: "none", Kind: namedFile(&r.CRLFile),
			Meaning: "Revocation lists of those CAs, PEM, or one in DER."},
		{Name: "allow", Otherwise: "every certificate of the CA, as admin",
			Kind: strict.List(&r.Allow, 1, maxAllowed, func(a *AdminAllow) strict.Kind {
				return strict.Section([]strict.Field{
					{Name: "name", Need: true, Kind: strict.Scalar(&a.Name, strict.Text()),
						Meaning: "Common name of a certificate, or one of its DNS, e-mail or URI names; unique."},
					{Name: "role", Need: true, Kind: strict.Scalar(&a.Viewer, strict.Either("admin", "viewer")),
						Meaning: "A viewer may look, rehearse and explain, an admin do everything."},
				})
			}), Meaning: "Who may use it; others are refused with 403."},
	}
}

// checkAdmin holds the keys of admin against each other and reads the files that they name.
func (d checker) checkAdmin(c *Config) {
	a := &c.Admin
	d.checkRemote(a.Remote)
	switch {
	case a.StateFile == "":
		if d.Given("admin.state_max_age") && !d.Given("admin.state_file") {
			d.WarnKey(d.Place("admin.state_max_age"), &strict.Fault{Code: codeIgnoredKey,
				Message: "has no effect without admin.state_file"})
		}
	case !a.RuntimeMembers && d.Sound("admin.runtime_members"):
		d.WarnKey(d.Place("admin.state_file"), &strict.Fault{Code: codeIgnoredKey,
			Message: "has no effect with runtime_members: false: there are no lists to keep"})
		a.StateFile = ""
	default:
		d.checkStateFile(c)
	}
	if a.StateFile == "" {
		a.StateMaxAge = defaultStateAge // what has no effect is not shown either
	}
	if d.Given("admin.audit_log") && d.Sound("admin.audit_log", "access_log.output") && a.AuditLog != "stderr" && a.AuditLog == c.AccessLog.Output {
		d.FailValue(d.Place("admin.audit_log"), &strict.Fault{Code: codeSameFile,
			Message: "is the file of access_log.output too", Hint: "give each its own file"})
	}
}

// checkStateFile refuses a state file that is a file of another kind: it is replaced at each change.
func (d checker) checkStateFile(c *Config) {
	path := filepath.Clean(c.Admin.StateFile)
	this, err := filepath.Abs(d.File)
	if err != nil {
		this = d.File
	}
	for _, other := range []struct{ path, what string }{
		{this, "this file"},
		{c.Admin.AuditLog, "the file of admin.audit_log"},
		{c.AccessLog.Output, "the file of access_log.output"},
	} {
		if path == filepath.Clean(other.path) {
			d.FailValue(d.Place("admin.state_file"), &strict.Fault{Code: codeSameFile,
				Message: "is " + other.what + ", and would replace it", Hint: "give it a file of its own"})
			return
		}
	}
}

func (d checker) checkRemote(r *AdminRemote) {
	if r == nil {
		return
	}
	const at = "admin.remote"
	if d.Given(strict.Join(at, "cert_file")) && d.Given(strict.Join(at, "key_file")) { // both are required
		d.checkPair(at, r.KeyPair)
	}
	d.checkCA(strict.Join(at, "client_ca_file"), r.ClientCAFile)
	d.checkCRL(strict.Join(at, "crl_file"), r.CRLFile)
	names := make(claims)
	for i, a := range r.Allow {
		if a.Name != "" {
			d.unique(names, a.Name, strict.Join(strict.Index(strict.Join(at, "allow"), i), "name"), codeDuplicateName, "")
		}
	}
}

// checkCRL reads a file of revocation lists (RFC 5280 section 5). Whether they are those of the CAs and still
// valid is found out where they are used: that changes without the file.
func (d checker) checkCRL(path, file string) {
	text, ok := d.content(path, file)
	if !ok {
		return
	}
	if why := notRevocationLists(text); why != "" {
		d.FailValue(d.Place(path), &strict.Fault{Code: codeInvalidCertificate,
			Message: file + ": " + why, Hint: "the file holds one PEM block X509 CRL or more, or one list in DER"})
	}
}

// notRevocationLists says why a text is neither a list of PEM revocation lists nor one in DER.
func notRevocationLists(text []byte) string {
	if _, err := x509.ParseRevocationList(text); err == nil {
		return ""
	}
	count := 0
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "X509 CRL" {
			return fmt.Sprintf("holds a %s block", block.Type)
		}
		count++
		if _, err := x509.ParseRevocationList(block.Bytes); err != nil {
			return fmt.Sprintf("revocation list %d: %v", count, err)
		}
	}
	if count == 0 {
		return "holds no revocation list"
	}
	return ""
}
