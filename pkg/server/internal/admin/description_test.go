package admin

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/scalws/scalws/pkg/api"
)

var update = flag.Bool("update", false, "write the description of the API")

// openAPIFiles are where the description is: one for the daemon to serve, one for people to find.
var openAPIFiles = []string{"openapi.json", "../../../../docs/openapi.json"}

// object is one in JSON.
type object = map[string]any

// TestOpenAPI holds the description against the table of routes and the types of the API.
func TestOpenAPI(t *testing.T) {
	d := describer{t: t, comments: comments(t), schemas: object{}}
	want, err := json.MarshalIndent(d.document(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	for _, name := range openAPIFiles {
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(want, got) {
			t.Errorf("%s is stale: run this test with -update", name)
		}
	}
	document, err := openapi3.NewLoader().LoadFromData(want)
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context()); err != nil {
		t.Error(err)
	}
}

// describer writes the description.
type describer struct {
	t *testing.T
	// comments are those of types and of fields, "Type" and "Type.Field".
	comments map[string]string
	schemas  object
}

func (d *describer) document() object {
	paths := object{}
	for _, r := range (&handler{}).routes() {
		item, _ := paths[r.path].(object)
		if item == nil {
			item = object{}
			paths[r.path] = item
		}
		if strings.Contains(r.path, "{name}") {
			item["parameters"] = []any{object{
				"name": "name", "in": "path", "required": true, "schema": object{"type": "string"}, "description": "Name of the pool.",
			}}
		}
		item[strings.ToLower(r.method)] = d.operation(r)
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "ScalWS admin API", "version": "1",
			"description": "Served on the admin socket. HEAD works wherever GET does. Fields may be added to answers later; " +
				"a path or a method that is not here is answered 404 or 405, with a problem.",
			"license": object{"name": "See the LICENSE file of ScalWS", "url": "https://github.com/scalws/scalws/blob/main/LICENSE"},
		},
		"servers":    []any{object{"url": "http://localhost", "description": "The host is not looked at on the socket."}},
		"paths":      paths,
		"components": object{"schemas": d.schemas},
	}
}

func (d *describer) operation(r route) object {
	ok := object{"description": r.about.summary + "."}
	content := object{}
	for media, answer := range r.about.answers {
		content[media] = object{"schema": d.answer(answer)}
		if hasPool(answer) {
			ok["headers"] = object{"ETag": object{
				"description": "Names this state of the pool, for If-Match.", "schema": object{"type": "string"},
			}}
		}
	}
	ok["content"] = content
	responses := object{"200": ok}
	for status, codes := range refusalsOf(r) {
		responses[fmt.Sprint(status)] = object{
			"description": "Refused, and nothing has changed: " + strings.Join(codes, ", "),
			"content":     object{api.ProblemType: object{"schema": d.schema(reflect.TypeFor[api.Problem]())}},
		}
	}
	op := object{"operationId": r.about.id, "summary": r.about.summary, "responses": responses}
	var parameters []any
	for in, list := range map[string][]parameter{"query": r.about.query, "header": r.about.header} {
		for _, p := range list {
			parameters = append(parameters, object{
				"name": p.name, "in": in, "description": p.summary, "schema": d.schema(reflect.TypeOf(p.like)),
			})
		}
	}
	slices.SortFunc(parameters, func(a, b any) int {
		return strings.Compare(fmt.Sprint(a.(object)["in"], a.(object)["name"]), fmt.Sprint(b.(object)["in"], b.(object)["name"]))
	})
	if parameters != nil {
		op["parameters"] = parameters
	}
	if r.about.body != nil {
		media := "application/json"
		if _, text := r.about.body.(inYAML); text {
			media = "application/yaml"
		}
		op["requestBody"] = object{"required": true, "content": object{
			media: object{"schema": d.schema(reflect.TypeOf(r.about.body))},
		}}
	}
	return op
}

func hasPool(answer any) bool {
	if either, ok := answer.(eitherOf); ok {
		return slices.ContainsFunc(either, hasPool)
	}
	_, is := answer.(api.Upstream)
	return is
}

// refusalsOf are the codes that a route may answer with, by status.
func refusalsOf(r route) map[int][]string {
	codes := map[int][]string{}
	for _, code := range append(refusalsOfAll(), r.about.refusals...) {
		codes[statusOf(code)] = append(codes[statusOf(code)], code)
	}
	return codes
}

func (d *describer) answer(v any) object {
	if either, ok := v.(eitherOf); ok {
		var all []any
		for _, one := range either {
			all = append(all, d.answer(one))
		}
		return object{"anyOf": all}
	}
	return d.schema(reflect.TypeOf(v))
}

// bounds are what the types do not tell of fields.
var bounds = map[string]object{
	"SetMember.weight":       {"minimum": api.MinWeight, "maximum": api.MaxWeight},
	"SetMembers.members":     {"maxItems": api.MaxMembers},
	"PreviewMembers.members": {"maxItems": api.MaxMembers},
	"PreviewMembers.keys":    {"maxItems": api.MaxKeys},
	"Upstream.members_from":  {"enum": []string{api.FromFile, api.FromAPI}},
	"Member.state":           {"enum": []string{api.StateUp, api.StateEjected, api.StateProbation}},
	"Share.before":           {"minimum": 0, "maximum": 1},
	"Share.after":            {"minimum": 0, "maximum": 1},
}

// schema is the schema of a type as encoding/json writes it.
func (d *describer) schema(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Struct:
		d.define(t)
		return object{"$ref": "#/components/schemas/" + t.Name()}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int:
		return object{"type": "integer"}
	case reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.Interface:
		return object{}
	}
	d.t.Fatalf("no schema for %v", t)
	return nil
}

// define writes the schema of a struct, unless it is there already.
func (d *describer) define(t reflect.Type) {
	if d.schemas[t.Name()] != nil {
		return
	}
	properties, required := object{}, []string{}
	s := object{"type": "object", "properties": properties}
	d.schemas[t.Name()] = s
	if text := d.comments[t.Name()]; text != "" {
		s["description"] = text
	}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := d.schema(f.Type)
		for key, value := range bounds[t.Name()+"."+name] {
			p[key] = value
		}
		if text := d.comments[t.Name()+"."+f.Name]; text != "" {
			p["description"] = text
		}
		properties[name] = p
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	if len(required) > 0 {
		s["required"] = required
	}
}

// comments reads what the package api says of its types and their fields.
func comments(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	entries, err := os.ReadDir("../../../api")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		f, err := parser.ParseFile(token.NewFileSet(), "../../../api/"+e.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range f.Decls {
			group, ok := declared.(*ast.GenDecl)
			if !ok || group.Tok != token.TYPE {
				continue
			}
			spec := group.Specs[0].(*ast.TypeSpec)
			texts[spec.Name.Name] = oneLine(group.Doc)
			if s, ok := spec.Type.(*ast.StructType); ok {
				for _, field := range s.Fields.List {
					for _, name := range field.Names {
						texts[spec.Name.Name+"."+name.Name] = oneLine(field.Doc)
					}
				}
			}
		}
	}
	return texts
}

func oneLine(c *ast.CommentGroup) string { return strings.Join(strings.Fields(c.Text()), " ") }

// expectDescribed holds an answer of the fixture against what the description promises of its route.
func (f *fixture) expectDescribed(r *http.Request, w *httptest.ResponseRecorder) {
	f.t.Helper()
	for _, route := range f.api.routes() {
		if route.path != r.Pattern || route.method != strings.Replace(r.Method, "HEAD", "GET", 1) {
			continue
		}
		if w.Code == http.StatusOK {
			if media, _, _ := strings.Cut(w.Header().Get("Content-Type"), ";"); route.about.answers[media] == nil {
				f.t.Errorf("%s %s answers %s, which is not described", route.method, route.path, media)
			}
			return
		}
		var p api.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil && r.Method != http.MethodHead {
			f.t.Errorf("%s %s answers %d without a problem: %v", route.method, route.path, w.Code, err)
		}
		if r.Method != http.MethodHead && !slices.Contains(refusalsOf(route)[w.Code], p.Code) {
			f.t.Errorf("%s %s answers %d %s, which is not described", route.method, route.path, w.Code, p.Code)
		}
	}
}

// TestDescribedParameters: each parameter of the description is one of the call, and there is no other.
func TestDescribedParameters(t *testing.T) {
	for _, r := range (&handler{}).routes() {
		t.Run(r.about.id, func(t *testing.T) {
			target := strings.Replace(r.path, "{name}", "header", 1)
			ask := func(parameter string) string {
				res := newFixture(t).do(r.method, target+"?"+parameter+"=x", `{"members": []}`)
				if res.StatusCode == http.StatusOK {
					return ""
				}
				return decode[api.Problem](t, res).Detail
			}
			if got := ask("other"); !strings.HasPrefix(got, "query: ") {
				t.Errorf("a parameter that is not described: %q", got)
			}
			for _, p := range r.about.query {
				if got := ask(p.name); strings.Contains(got, "unknown parameter") {
					t.Errorf("%s: %s", p.name, got)
				}
			}
		})
	}
}

// TestDescribedIDs: each call has a name of its own and a summary without a full stop.
func TestDescribedIDs(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range (&handler{}).routes() {
		if r.about.id == "" || seen[r.about.id] || r.about.summary == "" || strings.HasSuffix(r.about.summary, ".") {
			t.Errorf("%s %s: %+v", r.method, r.path, r.about)
		}
		seen[r.about.id] = true
	}
}
