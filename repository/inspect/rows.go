package inspect

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
)

// rowForms has a parser for the rows of each group, which returns them as text.
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
	schema.GroupRender:   urlRow,
	schema.GroupShot:     urlRow,
	schema.GroupNeed:     pairRow,
	schema.GroupIcon:     urlRow,
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

// CheckRow returns an error if a row cannot belong to its group.
func CheckRow(group, row string) error {
	form, ok := rowForms[group]
	if !ok {
		return nil
	}
	_, err := form(row)
	return err
}

// RowText returns a row as text: its URLs and content keys or, if it has none, the row
// itself, quoted if it is not printable.
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

// RowPrefix returns the prefix of rows that a word of the user means: the row of a URL, the
// bytes in hexadecimal digits after 0x, or the word itself.
func RowPrefix(word string) (string, error) {
	if digits, ok := strings.CutPrefix(word, "0x"); ok {
		b, err := hex.DecodeString(digits)
		if err != nil {
			return "", errors.New("want an even number of hexadecimal digits after 0x")
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
