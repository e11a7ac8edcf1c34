package web

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/webindexer/indexer/index/snippet"
	"github.com/webindexer/indexer/page"
)

type object = map[string]any

// special holds the schemas of types that encode themselves or need a closer description.
var special = map[reflect.Type]object{
	reflect.TypeFor[time.Time]():       {"type": "string", "format": "date-time"},
	reflect.TypeFor[time.Duration]():   {"type": "integer", "description": "nanoseconds"},
	reflect.TypeFor[page.URL]():        {"type": "string"}, // "" where there is none
	reflect.TypeFor[snippet.Snippet](): {"type": "string"},
	reflect.TypeFor[json.RawMessage](): {},
}

// schemaOf returns the JSON schema (2020-12) of a type as encoding/json encodes it.
func schemaOf(t reflect.Type) object {
	if s, ok := special[t]; ok {
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return object{"anyOf": []any{schemaOf(t.Elem()), object{"type": "null"}}}
	case reflect.Struct:
		s := structSchema{properties: object{}, required: []string{}}
		s.add(t)
		return object{"type": "object", "properties": s.properties, "required": s.required, "additionalProperties": false}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return object{"type": "integer"}
	}
	return object{} // an interface, which may hold anything
}

type structSchema struct {
	properties object
	required   []string
}

// add adds the fields of a struct, including those that it gets from embedded structs.
func (s *structSchema) add(t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		of := f.Type
		if of.Kind() == reflect.Pointer && f.Anonymous {
			of = of.Elem()
		}
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "" && of.Kind() == reflect.Struct:
			s.add(of)
			continue
		case name == "":
			name = f.Name
		}
		s.properties[name] = schemaOf(f.Type)
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			s.required = append(s.required, name)
		}
	}
}
