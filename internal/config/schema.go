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
		strict.AnyOf(strict.Requires("proxy"), strict.Requires("runtime"), strict.Requires("redirect"), strict.Has("routes", notEmpty())))
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

// tokenExpression is isToken.
const tokenExpression = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"

func hashRules() []strict.Shown {
	named := strict.Has("by", strict.Shown{{Key: "enum", Value: []any{lb.ByCookie, lb.ByHeader}}})
	return []strict.Shown{
		strict.When(strict.Has("by", strict.Const(lb.ByHeader)), strict.Requires("name")),
		strict.When(named, strict.Fits("name", strict.Pattern(tokenExpression))),
	}
}

func applicationRules() []strict.Shown {
	return []strict.Shown{strict.AnyOf(strict.Requires("runtime"), strict.Requires("redirect"), strict.Has("routes", notEmpty()))}
}

func routeRules() []strict.Shown {
	return []strict.Shown{
		strict.OneOf(strict.Requires("path"), strict.Requires("exact"), strict.Requires("regex")),
		strict.AnyOf(strict.Requires("runtime"), strict.Requires("redirect")),
	}
}

func matchHeaderRules() []strict.Shown {
	return []strict.Shown{strict.Not(strict.Requires("value", "regex"))}
}

func corsRules() []strict.Shown {
	all := strict.Shown{{Key: "contains", Value: strict.Const("*")}}
	return []strict.Shown{strict.When(strict.Has("credentials", strict.Const(true)), strict.Fits("origins", strict.Not(all)))}
}

func policyRules() []strict.Shown { return []strict.Shown{{{Key: "minProperties", Value: 1}}} }

// runtimeRules are those of a runtime that has a type.
func runtimeRules() []strict.Shown {
	is := func(t RuntimeType) strict.Shown { return strict.Has("type", strict.Const(string(t))) }
	status := func(of strict.Shown) strict.Shown { return strict.Fits("status", of) }
	var rules []strict.Shown
	for _, rule := range proxyRules() {
		rules = append(rules, strict.When(is(RuntimeProxy), rule))
	}
	for _, f := range ownedFields(&Runtime{}) {
		rules = append(rules, strict.When(strict.Requires(f.Name), strict.Has("type", strict.Shown{{Key: "enum", Value: f.of}})))
	}
	emptyStatus := strict.Has("status", strict.Shown{{Key: "enum", Value: []int{204, 205}}})
	return append(rules,
		strict.When(is(RuntimeStatic), strict.Requires("root")),
		strict.When(is(RuntimeRedirect), strict.Requires("to")),
		strict.When(is(RuntimeRedirect), status(strict.Shown{{Key: "enum", Value: redirectStatuses()}})),
		strict.When(is(RuntimeRespond), status(strict.Not(strict.Shown{{Key: "minimum", Value: 300}, {Key: "maximum", Value: 399}}))),
		strict.When(emptyStatus, strict.Fits("body", strict.Const(""))),
	)
}

func rateLimitRules() []strict.Shown {
	byHeader := strict.Has("by", strict.Const(string(LimitByHeader)))
	return []strict.Shown{
		strict.When(byHeader, strict.Requires("header")),
		strict.When(byHeader, strict.Fits("header", strict.Pattern(tokenExpression))),
	}
}

func proxyRules() []strict.Shown {
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
