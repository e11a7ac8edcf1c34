package web

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/repository"
)

// openAPIBase is the description without the schemas of the answers. These are generated
// from the encoded Go types, so they always match.
//
//go:embed openapi.json
var openAPIBase []byte

// answers maps schema names to the types of the answers.
var answers = map[string]reflect.Type{
	"Results":  reflect.TypeFor[search.Results](),
	"Details":  reflect.TypeFor[Details](),
	"Versions": reflect.TypeFor[apiVersionList](),
	"Similar":  reflect.TypeFor[search.SimilarPages](),
	"Stats":    reflect.TypeFor[repository.Stats](),
	"Error":    reflect.TypeFor[apiError](),
}

// openAPI returns the description of the API, in OpenAPI 3.1.
func openAPI() ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(openAPIBase, &doc); err != nil {
		return nil, fmt.Errorf("web: openapi.json: %w", err)
	}
	schemas := make(map[string]any)
	for name, t := range answers {
		schemas[name] = schemaOf(t)
	}
	doc["components"] = map[string]any{"schemas": schemas, "securitySchemes": map[string]any{
		"basic":  map[string]any{"type": "http", "scheme": "basic"},
		"bearer": map[string]any{"type": "http", "scheme": "bearer"},
	}}
	b, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return nil, fmt.Errorf("web: description of the API: %w", err)
	}
	return append(b, '\n'), nil
}
