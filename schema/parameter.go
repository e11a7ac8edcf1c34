package schema

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// Columns with which a crawl learns which query parameters make no difference; see package
// frontier, parameters.go. HostPages only counts.
var (
	// HostParameters is what is known about the query parameters of a host. w: discover
	HostParameters = txn.Column{Group: GroupHost, Name: "parameters"}
	// HostVariants, at a row of VariantRow, says which URL is fetched for all URLs that
	// differ only in some parameters. w: discover, frontier
	HostVariants = txn.Column{Group: GroupHost, Name: "variants"}
	// HostPages is the number of URLs of a host that were visited, in decimal digits.
	// w: frontier
	HostPages = txn.Column{Group: GroupHost, Name: "pages"}
	// HostResources is the number of URLs of a host that the frontier has accepted as
	// resources of rendered pages, in decimal digits. w: discover
	HostResources = txn.Column{Group: GroupHost, Name: "resources"}
	// HostRelook is never written; a weak notification says that a parameter makes a
	// difference after all, so that URLs that were left out have to be added. o: relook
	HostRelook = txn.Column{Group: GroupHost, Name: "relook"}
	// HostRelookAt is how far relook has come. w: discover, relook
	HostRelookAt = txn.Column{Group: GroupHost, Name: "relook-at"}
)

// Parameter is what is known about a query parameter of a host.
type Parameter struct {
	Name string `json:"name"`
	// Families is the number of URLs without the parameter that have a row of variants.
	Families int `json:"families,omitempty"`
	// Pairs counts the URLs, since the last contradiction, that had the same content as a
	// URL that differs only in this parameter. Contents are hashes of these contents.
	Pairs    int      `json:"pairs,omitempty"`
	Contents []uint32 `json:"contents,omitempty"`
	// Contradictions counts the pairs whose contents differed.
	Contradictions int `json:"contradictions,omitempty"`
	// Ignored says that the crawler assumes that the parameter makes no difference.
	Ignored bool `json:"ignored,omitempty"`
}

// EncodeParameters encodes parameters for HostParameters.
func EncodeParameters(list []Parameter) ([]byte, error) {
	b, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("schema: encode parameters: %w", err)
	}
	return b, nil
}

// DecodeParameters decodes parameters; no value is an empty list.
func DecodeParameters(b []byte) (list []Parameter, err error) {
	if len(b) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("schema: parameters of a host: %w: %w", store.ErrCorrupt, err)
	}
	return list, nil
}

// Variants is what is known about URLs that differ only in some parameters.
type Variants struct {
	// First is the URL that is fetched.
	First page.URL
	// Spare is a URL that was left out; it replaces First if that is gone.
	Spare page.URL
	// Checks counts the URLs that were fetched in addition, to check that they have the same
	// content.
	Checks int
	// Differ says that contents were found to differ: all the URLs are fetched.
	Differ bool
	// Seen are hashes of the URLs that were compared with First.
	Seen []uint32
}

// VariantRow returns the row of the URLs of a host that differ only in some parameters: the
// names of the parameters, joined by "&", and the URL without them.
func VariantRow(host, names string, without page.URL) string {
	return host + "\x00" + names + "\x00" + without.Key()
}

// ParseVariantRow parses a row made by VariantRow.
func ParseVariantRow(row string) (host, names string, without page.URL, err error) {
	parts := strings.SplitN(row, "\x00", 3)
	if len(parts) != 3 {
		return "", "", "", fmt.Errorf("schema: variant row %q: %w", row, store.ErrCorrupt)
	}
	without, err = ParseURLRow(parts[2])
	return parts[0], parts[1], without, err
}

// Encode encodes the variants for HostVariants.
func (v Variants) Encode() []byte {
	b := enc(nil).string(string(v.First)).string(string(v.Spare)).uint(uint64(v.Checks))
	b = b.byte(flags(v.Differ)).uint(uint64(len(v.Seen)))
	for _, hash := range v.Seen {
		b = b.uint(uint64(hash))
	}
	return b
}

// DecodeVariants decodes variants.
func DecodeVariants(b []byte) (Variants, error) {
	d := newDec(b)
	v := Variants{First: page.URL(d.Text()), Spare: page.URL(d.Text()), Checks: int(d.Uint()), Differ: d.Byte() == 1}
	n := d.Uint()
	if n > uint64(len(d.Rest())) { // each takes at least a byte
		d.Fail()
		n = 0
	}
	for range n {
		v.Seen = append(v.Seen, uint32(d.Uint()))
	}
	return v, d.done("row of variants")
}
