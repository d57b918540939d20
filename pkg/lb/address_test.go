package lb

import (
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseAddress(t *testing.T) {
	long := strings.Repeat("a", 63) + "."
	tests := []struct{ in, want string }{
		{"192.0.2.5:8080", "192.0.2.5:8080"},
		{"192.0.2.5:0080", "192.0.2.5:80"},
		{"192.0.2.5:65535", "192.0.2.5:65535"},
		{"192.0.2.5:1", "192.0.2.5:1"},
		{"[2001:db8::5]:8080", "[2001:db8::5]:8080"},
		{"[2001:0DB8:0:0::0005]:8080", "[2001:db8::5]:8080"},
		{"[::ffff:192.0.2.5]:80", "192.0.2.5:80"},
		{"[::ffff:c000:205]:80", "192.0.2.5:80"},
		{"[::]:80", "[::]:80"},
		{"API-1.Internal:8080", "api-1.internal:8080"},
		{"under_score.example:80", "under_score.example:80"},
		{"absolute.example.:80", "absolute.example.:80"},
		{"1and1.example:80", "1and1.example:80"},
		{"localhost:80", "localhost:80"},
		{long + long + long + strings.Repeat("b", 61) + ":80", long + long + long + strings.Repeat("b", 61) + ":80"},
		{"unix:/run/api/api.sock", "unix:/run/api/api.sock"},
		{"unix://run//api/./x.sock", "unix:/run/api/x.sock"},
		{"unix:/Run/API.sock", "unix:/Run/API.sock"},
		{"unix:/" + strings.Repeat("x", 106), "unix:/" + strings.Repeat("x", 106)},
	}
	for _, test := range tests {
		got, err := ParseAddress(test.in)
		if err != nil || got != test.want {
			t.Errorf("%s: %s, %v; want %s", test.in, got, err, test.want)
		}
		if again, err := ParseAddress(got); err != nil || again != got {
			t.Errorf("%s is not canonical: %s, %v", got, again, err)
		}
		if IsUnix(got) != strings.HasPrefix(test.in, "unix:") {
			t.Errorf("IsUnix(%s) is %v", got, IsUnix(got))
		}
	}
}

func TestParseAddressRefuses(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", "is empty: write host:port"},
		{"http://a:80", "has a scheme: write host:port without it"},
		{"a:80/x", "has a path: write host:port without it"},
		{"a", "has no port: write host:port"},
		{"a:", "has no port: write host:port"},
		{":80", "has no host: write host:port"},
		{"2001:db8::5:80", "has several colons: write IPv6 addresses as [ipv6]:port"},
		{"[::1]", "has no port: write [ipv6]:port"},
		{"[::1]80", "has no port: write [ipv6]:port"},
		{"[::1]:", "has no port: write host:port"},
		{"[::1", "has no closing bracket: write [ipv6]:port"},
		{"[fe80::1%eth0]:80", "has a zone: write the address without it"},
		{"[192.0.2.5]:80", `has "192.0.2.5" in brackets: only an IPv6 address can stand there`},
		{"[a]:80", `has "a" in brackets: only an IPv6 address can stand there`},
		{"a:0", "has the port 0: it must be between 1 and 65535"},
		{"a:65536", "has the port 65536: it must be between 1 and 65535"},
		{"a:99999999999999999999", "has the port 99999999999999999999: it must be between 1 and 65535"},
		{"a:+80", `has the port "+80": it must be a number between 1 and 65535`},
		{"a:http", `has the port "http": it must be a number between 1 and 65535`},
		{"256.1.1.1:80", `has the host "256.1.1.1": it is neither an IPv4 address nor a host name`},
		{"192.0.02.5:80", `has the host "192.0.02.5": it is neither an IPv4 address nor a host name`},
		{"10:80", `has the host "10": it is neither an IPv4 address nor a host name`},
		{"a..b:80", "has an empty part in its host name"},
		{".:80", "has an empty part in its host name"},
		{"-a:80", `has the part "-a" in its host name: it must not begin or end with a hyphen`},
		{"a-.b:80", `has the part "a-" in its host name: it must not begin or end with a hyphen`},
		{"a b:80", "has ' ' in its host name: letters, digits, hyphens and dots are possible"},
		{"user@a:80", "has '@' in its host name: letters, digits, hyphens and dots are possible"},
		{"bücher.example:80", "has 'ü' in its host name: write international names in their xn-- form"},
		{strings.Repeat("a", 64) + ":80", "has a part of 64 bytes in its host name: at most 63 are possible"},
		{strings.Repeat("a.", 127) + "b:80", "has a host name of 255 bytes: at most 253 are possible"},
		{"unix:", "is not an absolute path: write unix:/path/to/socket"},
		{"unix:run/x", "is not an absolute path: write unix:/path/to/socket"},
		{"unix:@x", "is not an absolute path: write unix:/path/to/socket"},
		{"unix:/", "is a directory: write unix:/path/to/socket"},
		{"unix:/run/", "is a directory: write unix:/path/to/socket"},
		{"unix:/a\x00b", "has a zero byte in its path"},
		{"unix:/" + strings.Repeat("x", 107), "has a path of 108 bytes: a unix socket can have 107"},
	}
	for _, test := range tests {
		got, err := ParseAddress(test.in)
		if err == nil || err.Error() != test.want || got != "" {
			t.Errorf("%q: %q, %v\nwant %s", test.in, got, err, test.want)
		}
	}
}

// FuzzParseAddress holds that what is accepted is canonical, and can be dialled as it is.
func FuzzParseAddress(f *testing.F) {
	for _, seed := range []string{"192.0.2.5:8080", "[2001:DB8::5]:080", "Host:1", "unix:/run/../x", "[::ffff:1.2.3.4]:5", "a.:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, err := ParseAddress(in)
		if err != nil {
			return
		}
		if again, err := ParseAddress(got); err != nil || again != got {
			t.Fatalf("%q gives %q, which gives %q, %v", in, got, again, err)
		}
		if IsUnix(got) {
			return
		}
		host, port, err := net.SplitHostPort(got)
		if err != nil || host == "" || port == "" {
			t.Fatalf("%q gives %q: %v", in, got, err)
		}
	})
}

func TestCheckMembers(t *testing.T) {
	many := listOf(MaxMembers+1, 1)
	tests := []struct {
		name  string
		in    []Member
		https bool
		want  []string
	}{
		{"nobody", nil, false, nil},
		{"bounds of the weight", []Member{{"a:1", 1}, {"b:1", 1000}}, false, nil},
		{"weights", []Member{{"a:1", 0}, {"b:1", 1001}, {"c:1", -1}}, false, []string{
			"members[0].weight: must be between 1 and 1000",
			"members[1].weight: must be between 1 and 1000",
			"members[2].weight: must be between 1 and 1000",
		}},
		{"address and weight", []Member{{"a:1", 1}, {"http://b:1", 0}}, false, []string{
			"members[1].address: has a scheme: write host:port without it",
			"members[1].weight: must be between 1 and 1000",
		}},
		{"one address in two spellings", []Member{{"192.0.2.5:80", 1}, {"b:1", 1}, {"[::ffff:192.0.2.5]:080", 1}, {"B:1", 1}}, false, []string{
			"members[2].address: is the same member as members[0]: 192.0.2.5:80",
			"members[3].address: is the same member as members[1]: b:1",
		}},
		{"unix", []Member{{"unix:/x", 1}}, false, nil},
		{"unix in company", []Member{{"a:1", 1}, {"unix:/x", 1}}, false, []string{
			"members[1].address: is a unix socket: it must be the only member",
		}},
		{"unix with TLS", []Member{{"unix:/x", 1}}, true, []string{
			"members[0].address: is a unix socket: that needs a pool with scheme: http",
		}},
		{"the most", many[:MaxMembers], true, nil},
		{"too many", many, true, []string{"members: has 10001 entries: at most 10000 are possible"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, problems := CheckMembers(test.in, test.https)
			var got []string
			for _, p := range problems {
				got = append(got, p.Error())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckMembersCopies(t *testing.T) {
	in := []Member{{"API:080", 5}}
	got, _ := CheckMembers(in, false)
	if diff := cmp.Diff([]Member{{"api:80", 5}}, got); diff != "" || in[0].Address != "API:080" {
		t.Errorf("copy (-want +got):\n%s in: %v", diff, in)
	}
}
