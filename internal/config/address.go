package config

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// What schemas say of addresses.
const (
	unixPath    = "unix:/.+"
	ipAndPort   = `([0-9]{1,3}(\.[0-9]{1,3}){3}|\[[0-9A-Fa-f:.]+(%[0-9A-Za-z_.-]+)?\]):[0-9]+`
	hostAndPort = `([0-9A-Za-z_.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]+`
)

// listenAddress takes "ip:port", "[ipv6]:port" and, where unix is true, "unix:/path".
func listenAddress(unix bool) strict.Form[string] {
	bound, schema := "ip:port or [ipv6]:port", strict.Pattern("^"+ipAndPort+"$")
	if unix {
		bound, schema = "ip:port, [ipv6]:port or unix:/path", strict.Pattern("^("+unixPath+"|"+ipAndPort+")$")
	}
	return strict.Form[string]{Wants: "an address", Bound: bound, Schema: schema, Parse: func(text string) (string, *strict.Fault) {
		invalid := func(hint string) (string, *strict.Fault) {
			return "", &strict.Fault{Code: codeInvalidAddress,
				Message: fmt.Sprintf("must be %s, found %q", bound, strict.Shorten(text)), Hint: hint}
		}
		if lb.IsUnix(text) && unix {
			socket, err := lb.ParseAddress(text)
			if err != nil {
				return "", &strict.Fault{Code: codeInvalidAddress, Message: err.Error()}
			}
			return socket, nil
		}
		if strings.Contains(text, "://") {
			return invalid("remove the scheme")
		}
		if port, ok := strings.CutPrefix(text, ":"); ok && port != "" && strings.Trim(port, "0123456789") == "" {
			return invalid(fmt.Sprintf("write 0.0.0.0:%s or [::]:%s for every address", port, port))
		}
		if port, ok := strings.CutPrefix(text, "localhost:"); ok {
			return invalid("names are not resolved: write 127.0.0.1:" + port)
		}
		addr, err := netip.ParseAddrPort(text)
		if err != nil {
			if a, err := netip.ParseAddr(text); err == nil {
				return invalid("the port is missing: write " + netip.AddrPortFrom(a, 80).String())
			}
			return invalid("")
		}
		return netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port()).String(), nil
	}}
}

// filePath takes an absolute path or one of the words.
func filePath(words ...string) strict.Form[string] {
	bound := "an absolute path"
	if len(words) > 0 {
		bound = strings.Join(words, ", ") + " or an absolute path"
	}
	schema := strict.Pattern("^(" + strings.Join(append([]string{"/.*"}, words...), "|") + ")$")
	return strict.Form[string]{Wants: "a text", Bound: bound, Schema: schema, Parse: func(text string) (string, *strict.Fault) {
		for _, w := range words {
			if text == w {
				return text, nil
			}
		}
		if !filepath.IsAbs(text) || strings.ContainsFunc(text, unicode.IsControl) || len(text) > maxFilePath {
			f := &strict.Fault{Code: codeInvalidFilePath, Message: fmt.Sprintf("must be %s, found %q", bound, strict.Shorten(text))}
			if near := strict.Nearest(text, words); near != "" {
				f.Hint = fmt.Sprintf("did you mean %s?", near)
			}
			return "", f
		}
		return text, nil
	}}
}

// socketPath takes the path of a socket file.
func socketPath() strict.Form[string] {
	return strict.Form[string]{Wants: "a text", Bound: "an absolute path of at most 107 bytes", Schema: strict.Pattern("^/.{1,106}$"), Parse: func(text string) (string, *strict.Fault) {
		if !filepath.IsAbs(text) || strings.ContainsFunc(text, unicode.IsControl) {
			return "", &strict.Fault{Code: codeInvalidFilePath, Message: fmt.Sprintf("must be an absolute path, found %q", strict.Shorten(text)),
				Hint: "for example /run/scalws/admin.sock"}
		}
		socket, err := lb.ParseAddress("unix:" + text)
		if err != nil {
			return "", &strict.Fault{Code: codeInvalidFilePath, Message: err.Error()}
		}
		return strings.TrimPrefix(socket, "unix:"), nil
	}}
}

// mode takes the permissions of a socket file in octal. To connect is to write, and whoever connects is
// an administrator: nobody but the owner and the group may.
func mode() strict.Form[uint32] {
	const rule = `write it in octal with a leading 0, for example "0660"`
	format := func(n uint32) string { return fmt.Sprintf("%04o", n) }
	// Without quotes some readers of YAML take it for an octal number, some for a decimal one.
	schema := strict.AnyOf(strict.Shown{{Key: "type", Value: "integer"}}, strict.Pattern("^0[67][0-7]0$"))
	return strict.Form[uint32]{Wants: "a file mode", Bound: `"0600" to "0770"`, Takes: strict.AsWritten, Format: format, Schema: schema, Parse: func(text string) (uint32, *strict.Fault) {
		n, err := strconv.ParseUint(text, 8, 32)
		if err != nil || len(text) != 4 || text[0] != '0' {
			return 0, &strict.Fault{Code: codeInvalidMode, Message: fmt.Sprintf("must be a file mode, found %q", strict.Shorten(text)), Hint: rule}
		}
		if n&0o007 != 0 {
			return 0, &strict.Fault{Code: codeOpenSocket, Message: "must not give others any permission",
				Hint: `write "0660" and set group to those who may control the daemon`}
		}
		if n&0o600 != 0o600 {
			return 0, &strict.Fault{Code: codeInvalidMode, Message: "must let the owner read and write", Hint: rule}
		}
		return uint32(n), nil
	}}
}

// prefix takes a network, or an address as the network of that one address. An IPv4-mapped network is
// the IPv4 network.
func prefix() strict.Form[netip.Prefix] {
	return strict.Form[netip.Prefix]{Wants: "a network", Bound: "10.0.0.0/8, 2001:db8::/32 or one address", Format: netip.Prefix.String, Schema: strict.Pattern("^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$"), Parse: func(text string) (netip.Prefix, *strict.Fault) {
		invalid := func(hint string) (netip.Prefix, *strict.Fault) {
			return netip.Prefix{}, &strict.Fault{Code: codeInvalidPrefix,
				Message: fmt.Sprintf("must be a network such as 10.0.0.0/8, found %q", strict.Shorten(text)), Hint: hint}
		}
		if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
			a = a.Unmap()
			return netip.PrefixFrom(a, a.BitLen()), nil
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			address, _, _ := strings.Cut(text, "/")
			a, err := netip.ParseAddr(address)
			switch {
			case err != nil:
				return invalid("names are not resolved: write addresses")
			case a.Zone() != "":
				return invalid("write the address without its zone")
			}
			return invalid(fmt.Sprintf("the length of such a network is 0 to %d", a.BitLen()))
		}
		const mapped = 96 // bits in front of the IPv4 address (RFC 4291 section 2.5.5.2)
		if p.Addr().Is4In6() {
			if p.Bits() < mapped {
				return invalid("an IPv4-mapped network has a length of at least 96: write the IPv4 network")
			}
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped)
		}
		if p != p.Masked() {
			return invalid(fmt.Sprintf("bits are set behind the length: did you mean %s?", p.Masked()))
		}
		return p, nil
	}}
}

// singleAddress takes the address of a runtime without a pool. A scheme is required; its default port is
// not.
func singleAddress() strict.Form[Address] {
	const bound = "http://host:port, https://host:port or unix:/path"
	return strict.Form[Address]{Wants: "an address", Bound: bound, Format: Address.String, Schema: strict.Pattern(`^(` + unixPath + `|[Hh][Tt][Tt][Pp][Ss]?://[^/?#@]+)$`), Parse: func(text string) (Address, *strict.Fault) {
		invalid := func(hint string) (Address, *strict.Fault) {
			return Address{}, &strict.Fault{Code: codeInvalidAddress,
				Message: fmt.Sprintf("must be %s, found %q", bound, strict.Shorten(text)), Hint: hint}
		}
		if lb.IsUnix(text) {
			member, err := lb.ParseAddress(text)
			if err != nil {
				return invalid(err.Error())
			}
			return Address{Member: member}, nil
		}
		scheme, host, ok := strings.Cut(text, "://")
		if !ok {
			if _, err := lb.ParseAddress(text); err == nil {
				return invalid("write http://" + text)
			}
			return invalid("for a pool write {pool: name}")
		}
		a := Address{HTTPS: strings.EqualFold(scheme, "https")}
		if !a.HTTPS && !strings.EqualFold(scheme, "http") {
			return invalid("the scheme is http or https")
		}
		if i := strings.IndexAny(host, "/?#"); i >= 0 {
			return invalid(fmt.Sprintf("members get the path of the request: remove %s", strict.Shorten(host[i:])))
		}
		if strings.Contains(host, "@") {
			return invalid("remove the user name")
		}
		if !strings.Contains(host[strings.LastIndex(host, "]")+1:], ":") {
			host += map[bool]string{false: ":80", true: ":443"}[a.HTTPS]
		}
		member, err := lb.ParseAddress(host)
		if err != nil {
			return invalid(err.Error())
		}
		a.Member = member
		return a, nil
	}}
}
