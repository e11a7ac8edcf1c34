package inspect

import (
	"encoding"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// decoders decode the values of columns for people. A column that is not listed is shown
// as text if it is text, and otherwise as its number of bytes.
var decoders = map[txn.Column]func([]byte) (any, error){
	schema.FetchTime: decoder(schema.DecodeFetchStamp),
	schema.FetchContent: decoder(func(b []byte) (page.Fetch, error) {
		f, _, err := schema.DecodeContent(b)
		f.Body = nil
		return f, err
	}),
	schema.FetchSeen:    decoder(schema.DecodeTime),
	schema.FetchFailure: decoder(schema.DecodeFailure),
	schema.Text:         decoder(schema.DecodeText),
	schema.Links:        decoder(decodeLinkPart),
	schema.Inverted:     decoder(decodeLinkPart),
	schema.Inverting:    decoder(decodeLinkPart),
	schema.Inversion:    decoder(schema.DecodeInversion),
	schema.Discovery:    decoder(schema.DecodeDiscovery),
	schema.Frames:       decoder(schema.DecodeURLs),
	schema.State:        decoder(schema.DecodeURLState),
	schema.Chain:        decoder(schema.DecodeChain),
	schema.Propagated:   decoder(schema.DecodePropagation),
	schema.Pending:      decoder(schema.DecodeURLs),
	schema.Anchors:      decoder(schema.DecodeAnchors),
	schema.Indexed:      decoder(schema.DecodeIndexed),
	schema.Entry:        decoder(schema.DecodeEntry),
	schema.HostVariants: decoder(schema.DecodeVariants),

	schema.RankState:     decoder(schema.DecodeRankState),
	schema.Edges:         decoder(decodeEdges),
	schema.Correction:    decoder(schema.DecodeCorrection),
	schema.RankJournal:   decoder(schema.DecodeJournal),
	schema.RankPart:      decoder(schema.DecodeRankPart),
	schema.Choice:        decoder(schema.DecodeChoice),
	schema.IndexSum:      decoder(schema.DecodeIndexSum),
	schema.IndexSumPart:  decoder(schema.DecodeIndexSum),
	schema.RankTolerance: decoder(schema.DecodeTolerance),
	schema.Icon:          decoder(schema.DecodeIcon),
	schema.SquareImage:   decoder(schema.DecodeIcon),
	schema.Body: decoder(func(b []byte) (string, error) {
		body, err := schema.DecodeBody(b)
		return fmt.Sprintf("a body of %d bytes", len(body)), err
	}),
}

// inParts lists the columns of lists that are stored in parts, each part in its own column.
var inParts = []txn.Column{schema.Links, schema.Inverted, schema.Inverting, schema.Anchors, schema.Edges}

// decoderOf returns the decoder of a column, or of the list that the column is a part of.
func decoderOf(c txn.Column) (func([]byte) (any, error), bool) {
	if decode, ok := decoders[c]; ok {
		return decode, true
	}
	for _, list := range inParts {
		if _, ok := schema.PartNumber(list, c.Name); ok && list.Group == c.Group {
			return decoders[list], true
		}
	}
	return nil, false
}

func decodeLinkPart(b []byte) ([]schema.TargetLinks, error) {
	links, _, err := schema.DecodeLinkPart(b)
	return links, err
}

// decodeEdges decodes a part of the stored edges, with URLs instead of rows.
func decodeEdges(b []byte) (any, error) {
	e, _, err := schema.DecodeEdgePart(b)
	if err != nil {
		return nil, err
	}
	targets := make([]page.URL, len(e.Targets))
	for i, row := range e.Targets {
		if targets[i], err = schema.ParseURLRow(row); err != nil {
			return nil, err
		}
	}
	return struct {
		Links, State uint64
		Targets      []page.URL
	}{e.Links, e.State, targets}, nil
}

func decoder[T any](decode func([]byte) (T, error)) func([]byte) (any, error) {
	return func(b []byte) (any, error) { return decode(b) }
}

// DecodeValue returns a value in a form that can be printed: decoded by package schema, or
// as text, or as its number of bytes. It fails on a value that schema cannot read.
func DecodeValue(c txn.Column, b []byte) (any, error) {
	if decode, ok := decoderOf(c); ok && b != nil {
		v, err := decode(b)
		if err != nil {
			return nil, err
		}
		return printable(reflect.ValueOf(v)), nil
	}
	if utf8.Valid(b) && !strings.ContainsFunc(string(b), func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }) {
		if c.Group == notify.DeadGroup && json.Valid(b) {
			return json.RawMessage(b), nil
		}
		return string(b), nil
	}
	return fmt.Sprintf("%d bytes", len(b)), nil
}

// printable converts a value to one that reads well as JSON: hashes and keys, which are
// arrays of bytes, become hexadecimal digits, and bytes that are text become strings.
func printable(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	if _, ok := v.Interface().(encoding.TextMarshaler); ok {
		return v.Interface() // for example a time
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return printable(v.Elem())
	case reflect.Struct:
		fields := make(map[string]any)
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				fields[f.Name] = printable(v.Field(i))
			}
		}
		return fields
	case reflect.Array, reflect.Slice:
		return printableList(v)
	}
	return v.Interface()
}

func printableList(v reflect.Value) any {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		b := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(b), v)
		if v.Kind() == reflect.Slice && utf8.Valid(b) {
			return string(b)
		}
		return hex.EncodeToString(b)
	}
	list := make([]any, v.Len())
	for i := range list {
		list[i] = printable(v.Index(i))
	}
	return list
}
