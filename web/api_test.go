package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/webindexer/indexer/web"
)

// Real answers validate against the schemas that the description of the API names for
// their paths, and no schema allows additional fields.
func TestAnswersAreAsDescribed(t *testing.T) {
	s := newStand(t, append(webs(t, "lighthouse", "redirects", "failures", "cjk"), hostileWeb()...), func(o *web.Options) { o.Query.PerHost = 2 })
	description := s.get("/api/openapi.json")
	validate := validator(t, description)
	for _, target := range []string{
		"/api/query?q=lighthouse", "/api/query?q=lighthouse&explain=1&sort=date&per_host=1", "/api/query?q=lighthous&limit=1&offset=3", "/api/query?q=xylophone", "/api/query?site=skerryrock.example",
		"/api/query?q=hostile&limit=100", "/api/query?q=%E7%81%AF%E5%8F%B0&lang=ja",
		"/api/inspect?url=https://skerryrock.example/", "/api/inspect?url=https://skerryrock.example/&limit=1&offset=1", "/api/inspect?url=https://skerryrock.example/shop",
		"/api/inspect?url=https://skerryrock.example/visit.html", "/api/inspect?url=https://never.example/", "/api/inspect?url=" + url.QueryEscape(hostileURL),
		"/api/versions?url=https://skerryrock.example/lamp", "/api/versions?url=https://never.example/", "/api/stats",
		"/api/similar?url=https://skerryrock.example/&threshold=0.1", "/api/similar?limit=1&url=" + url.QueryEscape(hostileURL),
	} {
		a := s.do(target, nil)
		if a.status != http.StatusOK || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s", target, a.status, a.header.Get("Content-Type"))
		}
		validate(target, "200", a.body)
	}
	for target, want := range map[string]int{
		"/api/query": 400, "/api/query?q=a&limit=0": 400, "/api/query?q=a&limit=101": 400, "/api/query?q=a&offset=999": 400, "/api/query?q=a&limit=x": 400, "/api/query?q=a&sort=size": 400,
		"/api/query?q=a&per_host=11": 400, "/api/inspect": 400, "/api/inspect?url=javascript:1": 400, "/api/inspect?url=https://a.example/&limit=10001": 400, "/api/versions": 400, "/api/similar": 400, "/api/similar?url=https://a.example/&threshold=2": 400, "/api/similar?url=https://never.example/": 404, "/api/nothing": 404,
	} {
		a := s.do(target, nil)
		if a.status != want || a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d %s, want %d", target, a.status, a.header.Get("Content-Type"), want)
		}
		if target == "/api/nothing" {
			target = "/api/query"
		}
		validate(target, "default", a.body)
	}
	a := s.do("/api/stats", func(r *http.Request) { r.Host = "attacker.example" })
	validate("/api/stats", "default", a.body)
}

// validator checks bodies against the schemas of a description.
func validator(t *testing.T, description string) func(target, status, body string) {
	t.Helper()
	const at = "mem:///openapi.json"
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(description))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(at, doc); err != nil {
		t.Fatal(err)
	}
	return func(target, status, body string) {
		t.Helper()
		path, _, _ := strings.Cut(target, "?")
		pointer := "/paths/" + strings.ReplaceAll(path, "/", "~1") + "/get/responses/" + status + "/content/application~1json/schema"
		schema, err := c.Compile(at + "#" + pointer)
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
		if err != nil {
			t.Fatalf("%s: %v", target, err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s is not as described: %v", target, err)
		}
		// Without strict schemas this test would find nothing.
		if o, ok := value.(map[string]any); ok {
			o["a field that nobody knows"] = 1
			if schema.Validate(o) == nil {
				t.Errorf("the schema of %s takes any field", target)
			}
		}
	}
}

// testdata/api-fields lists the fields of each schema that programs rely on. Fields may be
// added but not removed.
func TestPromisedFields(t *testing.T) {
	s := newStand(t, nil, nil)
	var doc struct {
		OpenAPI    string `json:"openapi"`
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
		}
	}
	if err := json.Unmarshal([]byte(s.get("/api/openapi.json")), &doc); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.1.") {
		t.Errorf("OpenAPI %q", doc.OpenAPI)
	}
	promised, err := os.ReadFile("testdata/api-fields")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(promised)) {
		name, fields, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for field := range strings.FieldsSeq(fields) {
			n++
			if _, ok := doc.Components.Schemas[name].Properties[field]; !ok {
				t.Errorf("%s has no field %s any more", name, field)
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d fields are promised", n)
	}
	for path, methods := range doc.Paths {
		if len(methods) != 1 || methods["get"] == nil {
			t.Errorf("%s: %v", path, methods)
		}
	}
}

// The windows of an inspection add up to the whole list, whatever their size.
func TestInspectWindows(t *testing.T) {
	s := newStand(t, many(60), nil)
	type lists struct {
		Outlinks []struct{ URL, Anchor string }
		Inlinks  []struct{ Source, Anchor string }
		Out      int `json:"outlinks_total"`
		In       int `json:"inlinks_total"`
	}
	read := func(query string) (l lists) {
		t.Helper()
		if err := json.Unmarshal([]byte(s.get("/api/inspect?url=https://oak.example/"+query)), &l); err != nil {
			t.Fatal(err)
		}
		if l.Out != 60 || l.In != 60 {
			t.Errorf("%s: %d links from here and %d to here, want 60", query, l.Out, l.In)
		}
		return l
	}
	whole := read("")
	for _, size := range []int{1, 7, 60, 61} {
		var all lists
		for offset := 0; offset < 70; offset += size {
			part := read(fmt.Sprintf("&limit=%d&offset=%d", size, offset))
			all.Outlinks, all.Inlinks = append(all.Outlinks, part.Outlinks...), append(all.Inlinks, part.Inlinks...)
		}
		if !slices.Equal(all.Outlinks, whole.Outlinks) || !slices.Equal(all.Inlinks, whole.Inlinks) {
			t.Errorf("windows of %d give other lists", size)
		}
	}
	if l := read("&limit=0"); len(l.Outlinks)+len(l.Inlinks) != 0 {
		t.Error("a window of nothing has something")
	}
}

func TestOpenSearch(t *testing.T) {
	s := newStand(t, nil, nil)
	a := s.do("/opensearch.xml", func(r *http.Request) { r.Host = "localhost:7070" })
	if !strings.HasPrefix(a.header.Get("Content-Type"), "application/opensearchdescription+xml") ||
		!strings.Contains(a.body, `template="http://localhost:7070/?q={searchTerms}"`) || !strings.Contains(a.body, "<ShortName>indexer</ShortName>") {
		t.Errorf("%v\n%s", a.header, a.body)
	}
	if !strings.Contains(a.body, `rel="self" method="get" template="http://localhost:7070/opensearch.xml"`) {
		t.Errorf("it does not say where it is:\n%s", a.body)
	}
	behind := s.do("/opensearch.xml", func(r *http.Request) { r.Host = "localhost:7070"; r.Header.Set("X-Forwarded-Proto", "https") })
	if !strings.Contains(behind.body, `template="https://localhost:7070/?q={searchTerms}"`) || strings.Contains(behind.body, "http://localhost") {
		t.Errorf("behind a proxy with TLS:\n%s", behind.body)
	}
}
