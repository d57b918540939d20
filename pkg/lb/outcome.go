package lb

import "unicode/utf8"

// Cause is what went wrong with a member.
type Cause uint8

// The causes of failures, in the order of an attempt's life.
const (
	NoCause Cause = iota
	ConnectRefused
	ConnectTimeout
	ConnectFailed
	TLSFailed
	ResponseTimeout
	Reset
	MalformedResponse
	BodyBroken
	Status502
	Status503
	Status504
)

// String is the name used in the admin API, the events and the log; "" for NoCause.
func (c Cause) String() string {
	switch c {
	case ConnectRefused:
		return "connect_refused"
	case ConnectTimeout:
		return "connect_timeout"
	case ConnectFailed:
		return "connect_failed"
	case TLSFailed:
		return "tls_failed"
	case ResponseTimeout:
		return "response_timeout"
	case Reset:
		return "reset"
	case MalformedResponse:
		return "malformed_response"
	case BodyBroken:
		return "body_broken"
	case Status502:
		return "status_502"
	case Status503:
		return "status_503"
	case Status504:
		return "status_504"
	default:
		return ""
	}
}

// verdict is whose doing an outcome was.
type verdict uint8

const (
	neutral verdict = iota
	success
	failure
)

// Outcome is how an attempt ended, as far as its member is concerned. The zero value is [Neutral].
type Outcome struct {
	verdict verdict
	cause   Cause
	detail  string
}

// Success is any answer that is not a failure.
func Success() Outcome { return Outcome{verdict: success} }

// Failure is the member's fault.
func Failure(c Cause) Outcome { return Outcome{verdict: failure, cause: c} }

// maxDetail bounds what evidence keeps of an error text, in bytes.
const maxDetail = 200

// FailureDetail is a failure with a text for the evidence of an ejection, of which 200 bytes are kept.
func FailureDetail(c Cause, detail string) Outcome {
	if len(detail) > maxDetail {
		cut := maxDetail
		for cut > 0 && !utf8.RuneStart(detail[cut]) {
			cut--
		}
		detail = detail[:cut]
	}
	return Outcome{verdict: failure, cause: c, detail: detail}
}

// Neutral says nothing about the member: the client ended the attempt, or caused its end.
func Neutral() Outcome { return Outcome{} }

// Cause of a failure, NoCause for other outcomes.
func (o Outcome) Cause() Cause { return o.cause }

// Failed reports whether the outcome is a failure.
func (o Outcome) Failed() bool { return o.verdict == failure }
