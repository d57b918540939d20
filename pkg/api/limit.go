package api

import "time"

// RateLimit is a rate limit as it is now.
type RateLimit struct {
	Tenant      string `json:"tenant"`
	Application string `json:"application"`
	// Path is the route's; absent for the limit of the application.
	Path string `json:"path,omitempty"`
	// Requests in each Per, a duration such as "1m".
	Requests int    `json:"requests"`
	Per      string `json:"per"`
	Burst    int    `json:"burst"`
	// By is "client_ip", "header" or "application".
	By string `json:"by"`
	// Header is absent unless By is "header".
	Header string `json:"header,omitempty"`
	// Keys is how many clients or values are remembered.
	Keys int `json:"keys"`
	// Refused requests since the limit was defined.
	Refused uint64 `json:"refused"`
}

// Quota is a quota as it is now.
type Quota struct {
	Tenant      string `json:"tenant"`
	Application string `json:"application"`
	// Path is the route's; absent for the quota of the application.
	Path string `json:"path,omitempty"`
	// Used is how many requests of this window were let through, Limit how many may be.
	Used  uint64 `json:"used"`
	Limit uint64 `json:"limit"`
	// Reset is when the next window begins.
	Reset time.Time `json:"reset"`
	// Refused requests since the quota was defined.
	Refused uint64 `json:"refused"`
}
