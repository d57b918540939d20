package config

import (
	"fmt"
	"mime"
	"os"
	"strings"

	"github.com/scalws/scalws/internal/strict"
)

const (
	defaultIndex       = "index.html"
	defaultContentType = "text/plain; charset=utf-8"
	defaultStatus      = 200
	defaultRedirect    = 302

	maxFixedBody = 64 << 10
)

// completeOther fills in what depends on the type of a runtime that is no proxy, and clears what is a proxy's.
func (r *Runtime) completeOther(d *strict.Decoder, at string) {
	*r = Runtime{Type: r.Type, Static: r.Static, Answer: r.Answer}
	switch given := d.Given(strict.Join(at, "status")); r.Type {
	case RuntimeStatic:
		r.Answer = Answer{}
	case RuntimeRespond:
		r.Static, r.Answer.To = Static{}, ""
		if !given {
			r.Answer.Status = defaultStatus
		}
	case RuntimeRedirect:
		r.Static, r.Answer.Body, r.Answer.ContentType = Static{}, "", ""
		if !given {
			r.Answer.Status = defaultRedirect
		}
	}
}

func staticFields(s *Static) []strict.Field {
	return []strict.Field{
		{Name: "root", Otherwise: "required for static", Kind: namedFile(&s.Root),
			Meaning: "The folder that files are in. The whole path of a request is looked for below it."},
		{Name: "index", Def: defaultIndex, Kind: strict.Scalar(&s.Index, indexName()),
			Meaning: "Name of the file that answers for a folder; without it a folder is answered 404."},
	}
}

func statusFields(a *Answer) []strict.Field {
	return []strict.Field{
		{Name: "status", Otherwise: "200 for respond, 302 for redirect", Kind: strict.Scalar(&a.Status, strict.Whole(200, 599)),
			Meaning: "Status of the answer: 2xx, 4xx or 5xx for respond; 301, 302, 303, 307 or 308 for redirect."},
	}
}

func respondFields(a *Answer) []strict.Field {
	return []strict.Field{
		{Name: "body", Otherwise: "empty", Kind: strict.Scalar(&a.Body, fixedBody()),
			Meaning: "Body of the answer."},
		{Name: "content_type", Def: defaultContentType, Kind: strict.Scalar(&a.ContentType, contentType()),
			Meaning: "What the body is."},
	}
}

func redirectFields(a *Answer) []strict.Field {
	return []strict.Field{
		{Name: "to", Otherwise: "required for redirect", Kind: strict.Scalar(&a.To, location(false)),
			Meaning: "Where to go."},
	}
}

// indexName takes the name of a file that a static runtime would give out.
func indexName() strict.Form[string] {
	f := strict.Text()
	f.Bound = "the name of a file, not one that begins with a dot; " + f.Bound
	f.Schema = strict.Pattern("^[^./][^/]*$")
	parse := f.Parse
	f.Parse = func(text string) (string, *strict.Fault) {
		name, fault := parse(text)
		switch {
		case fault != nil:
		case strings.Contains(name, "/"):
			fault = &strict.Fault{Code: strict.CodeInvalidText, Message: "must be a name without a folder"}
		case strings.HasPrefix(name, "."):
			fault = &strict.Fault{Code: strict.CodeInvalidText, Message: "must not begin with a dot", Hint: "such files are not given out"}
		}
		return name, fault
	}
	return f
}

func fixedBody() strict.Form[string] {
	schema := strict.Shown{{Key: "type", Value: "string"}, {Key: "maxLength", Value: maxFixedBody}}
	return strict.Form[string]{Wants: "a text", Bound: fmt.Sprintf("at most %s", strict.FormatSize(maxFixedBody)), Schema: schema, Parse: func(text string) (string, *strict.Fault) {
		if len(text) > maxFixedBody {
			return "", strict.OutOfRange("0", strict.FormatSize(maxFixedBody))
		}
		return text, nil
	}}
}

// contentType takes a media type (RFC 9110 section 8.3.1).
func contentType() strict.Form[string] {
	f := strict.Text()
	f.Bound = "a media type such as text/html; charset=utf-8; " + f.Bound
	f.Schema = strict.Pattern("^[!-~]+/[ -~]+$")
	parse := f.Parse
	f.Parse = func(text string) (string, *strict.Fault) {
		name, fault := parse(text)
		if fault != nil {
			return "", fault
		}
		kind, _, err := mime.ParseMediaType(name)
		if err != nil || !strings.Contains(kind, "/") || !isVisible(name, " ") {
			return "", &strict.Fault{Code: codeInvalidContentType,
				Message: fmt.Sprintf("%q is not a media type", strict.Shorten(text)), Hint: "write one like text/html; charset=utf-8"}
		}
		return name, nil
	}
	return f
}

// isVisible is true for a text of visible ASCII and the characters of more.
func isVisible(text, more string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return (r <= ' ' || r >= 0x7f) && !strings.ContainsRune(more, r) })
}

// checkStatic looks for the folder. It is opened for each request: here it only has to be there.
func (d checker) checkStatic(at string, s *Static) {
	root := strict.Join(at, "root")
	if !d.Given(root) {
		d.Missing(d.Place(at), "root", "type: static needs the folder that files are in")
		return
	}
	if !d.Sound(root) {
		return
	}
	info, err := os.Stat(s.Root)
	if err == nil && !info.IsDir() {
		d.FailValue(d.Place(root), &strict.Fault{Code: codeUnreadableFile, Message: s.Root + " is not a directory"})
		return
	}
	if err == nil {
		var folder *os.Root
		if folder, err = os.OpenRoot(s.Root); err == nil {
			folder.Close()
		}
	}
	if err != nil {
		d.FailValue(d.Place(root), unreadable(s.Root, err))
	}
}

// checkRespond holds the keys of a fixed answer against each other.
func (d checker) checkRespond(at string, a *Answer) {
	status, body := strict.Join(at, "status"), strict.Join(at, "body")
	switch {
	case !d.Sound(status, body):
	case a.Status >= 300 && a.Status < 400:
		d.FailValue(d.Place(status), &strict.Fault{Code: strict.CodeOutOfRange,
			Message: "must not be a 3xx", Hint: "type: redirect sends clients elsewhere"})
	case a.Body != "" && (a.Status == 204 || a.Status == 205):
		d.FailKey(d.Place(body), &strict.Fault{Code: codeStatusWithoutBody,
			Message: fmt.Sprintf("an answer with the status %d has no body", a.Status), Hint: "remove body, or choose another status"})
	}
}

// checkRedirect holds the keys of a redirect against each other.
func (d checker) checkRedirect(at string, a *Answer) {
	if !d.Given(strict.Join(at, "to")) {
		d.Missing(d.Place(at), "to", "type: redirect needs the place to go to")
	}
	d.checkRedirectStatus(at, a.Status)
}
