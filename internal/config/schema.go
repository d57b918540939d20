package config

import (
	"github.com/scalws/scalws/internal/strict"
	"github.com/scalws/scalws/pkg/lb"
)

// Schema is the JSON Schema of the main file. It comes from the tables that the file is read by.
func Schema() strict.Shown {
	return strict.Document("Configuration of ScalWS", rootFields(&Config{}))
}

// SiteSchema is the JSON Schema of a site file.
func SiteSchema() strict.Shown {
	return strict.Document("Site file of ScalWS", siteFields(&site{}, &Client{}),
		strict.Not(strict.Requires("proxy", "runtime")),
		strict.AnyOf(strict.Requires("proxy"), strict.Requires("runtime"), strict.Has("routes", notEmpty())))
}

// What follows is what a schema can say of keys that depend on each other. The checks decide
// ([checker]); TestSchemaRefuses holds these rules against them.

func listenerRules() []strict.Shown {
	is := strict.Const(true)
	return []strict.Shown{
		strict.When(strict.Has("http2", is), strict.Requires("tls")),
		strict.When(strict.Has("h2c", is), strict.Not(strict.Requires("tls"))),
		strict.When(strict.Has("reuse_port", is), strict.Fits("address", strict.Not(unixAddress()))),
	}
}

func listenerTLSRules() []strict.Shown {
	return []strict.Shown{
		strict.OneOf(strict.Requires("certificates"), strict.Requires("cert_file")),
		strict.Together("cert_file", "key_file"),
	}
}

func upstreamRules() []strict.Shown {
	https := strict.Has("scheme", strict.Const("https"))
	oneOfUnix := strict.Shown{{Key: "contains", Value: strict.Has("address", unixAddress())}}
	return []strict.Shown{
		strict.When(strict.Has("balance", strict.Const(lb.Hash)), strict.Requires("hash")),
		strict.When(strict.Requires("tls"), https),
		strict.When(https, strict.Not(strict.Has("members", oneOfUnix))),
		strict.Not(strict.Has("members", append(oneOfUnix, strict.Entry{Key: "minItems", Value: 2}))),
	}
}

func hashRules() []strict.Shown {
	const token = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" // isToken
	named := strict.Has("by", strict.Shown{{Key: "enum", Value: []any{lb.ByCookie, lb.ByHeader}}})
	return []strict.Shown{
		strict.When(strict.Has("by", strict.Const(lb.ByHeader)), strict.Requires("name")),
		strict.When(named, strict.Fits("name", strict.Pattern(token))),
	}
}

func applicationRules() []strict.Shown {
	return []strict.Shown{strict.AnyOf(strict.Requires("runtime"), strict.Has("routes", notEmpty()))}
}

func runtimeRules() []strict.Shown {
	https := strict.Has("upstream", strict.Pattern("^[Hh][Tt][Tt][Pp][Ss]://"))
	idle := strict.Shown{{Key: "items", Value: strict.Has("weight", strict.Const(0))}}
	return []strict.Shown{
		strict.OneOf(strict.Requires("upstream"), strict.Requires("backends")),
		strict.Not(strict.Has("backends", idle)),
		strict.When(strict.Requires("tls_ca_file"), https),
	}
}

func backendRules() []strict.Shown {
	return []strict.Shown{strict.OneOf(strict.Requires("pool"), strict.Requires("status"))}
}

func unixAddress() strict.Shown { return strict.Pattern("^unix:") }

func notEmpty() strict.Shown { return strict.Shown{{Key: "minItems", Value: 1}} }
