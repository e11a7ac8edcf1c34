package repository

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"indexer/notify"
	"indexer/page"
	"indexer/schema"
	"indexer/txn"
)

// decoders read the values of columns for people who look inside. A column that is
// not here is shown as text where it is text, and as a number of bytes where not.
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
	schema.RankPart:      decoder(schema.DecodePostings),
	schema.Choice:        decoder(schema.DecodeChoice),
	schema.RankTolerance: decoder(schema.DecodeTolerance),
	schema.Body: decoder(func(b []byte) (string, error) {
		body, err := schema.DecodeBody(b)
		return fmt.Sprintf("a body of %d bytes", len(body)), err
	}),
}

// inParts are the columns of lists that are stored in parts, each in a column like theirs.
var inParts = []txn.Column{schema.Links, schema.Inverted, schema.Inverting, schema.Anchors, schema.Edges}

// decoderOf is the decoder of a column, or of the list that it is a part of.
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

// decodeEdges has URLs where a part of the stored edges has rows.
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

// DecodeValue is a value in a form that can be printed: what schema makes of it, or
// text, or how many bytes it has. A value that schema cannot read is an error.
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

// rowForms says what the rows of a group are.
var rowForms = map[string]func(row string) (text string, err error){
	schema.GroupFetch:    urlRow,
	schema.GroupBody:     urlRow,
	schema.GroupDoc:      urlRow,
	schema.GroupURL:      urlRow,
	schema.GroupRank:     urlRow,
	schema.GroupFrontier: urlRow,
	schema.GroupSeed:     urlRow,
	schema.GroupPointer:  pairRow,
	schema.GroupLink:     pairRow,
	schema.GroupMember: func(row string) (string, error) {
		k, m, err := schema.ParseMemberRow(row)
		return hex.EncodeToString(k[:]) + " " + string(m.URL), err
	},
	schema.GroupIndex: func(row string) (string, error) {
		k, err := schema.ParseClusterRow(row)
		return hex.EncodeToString(k[:]), err
	},
	schema.GroupChoice: func(row string) (string, error) {
		k, err := schema.ParseClusterRow(row)
		return hex.EncodeToString(k[:]), err
	},
	schema.GroupSummary: func(row string) (string, error) {
		cluster, at := schema.SplitMemberRow(row)
		if at == "" {
			return hex.EncodeToString([]byte(cluster)), nil
		}
		k, m, err := schema.ParseMemberRow(row)
		return hex.EncodeToString(k[:]) + " from " + string(m.URL), err
	},
	schema.GroupHost: func(row string) (string, error) {
		host, names, without, err := schema.ParseVariantRow(row)
		if err != nil {
			return row, nil //nolint:nilerr // the row of a host itself
		}
		return fmt.Sprintf("%s without %s: %s", host, names, without), nil
	},
	schema.GroupQueue: func(row string) (string, error) {
		host, u, due, err := schema.ParseQueueRow(row)
		return fmt.Sprintf("%s %s %s", host, due.UTC().Format("2006-01-02T15:04:05Z"), u), err
	},
}

func urlRow(row string) (string, error) {
	u, err := schema.ParseURLRow(row)
	return string(u), err
}

func pairRow(row string) (string, error) {
	target, source, err := schema.ParsePairRow(row)
	return fmt.Sprintf("%s to %s", source, target), err
}

// CheckRow says why a row cannot be one of its group.
func CheckRow(group, row string) error {
	form, ok := rowForms[group]
	if !ok {
		return nil
	}
	_, err := form(row)
	return err
}

// RowText is a row for people: URLs and content keys spelled out, or else the row,
// quoted where it would not print.
func RowText(group, row string) string {
	if form, ok := rowForms[group]; ok {
		if text, err := form(row); err == nil {
			return text
		}
	}
	if q := strconv.Quote(row); q[1:len(q)-1] != row {
		return q
	}
	return row
}

// RowPrefix is the beginning of rows that a word stands for: the row of a URL, the
// bytes behind 0x, or the word itself.
func RowPrefix(word string) (string, error) {
	if digits, ok := strings.CutPrefix(word, "0x"); ok {
		b, err := hex.DecodeString(digits)
		if err != nil {
			return "", fmt.Errorf("%q: want an even number of hexadecimal digits behind 0x", word)
		}
		return string(b), nil
	}
	if !strings.Contains(word, "://") {
		return word, nil
	}
	u, err := page.ParseURL(word)
	if err != nil {
		return "", err
	}
	return schema.URLRow(u), nil
}
