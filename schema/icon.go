package schema

import (
	"fmt"

	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// GroupIcon says which URLs are icons of their sites. Its rows are few and small, so that a
// search can look for those of some hosts.
const GroupIcon = "icon" // URL rows

var (
	// Icon is the SHA-256 of the body of the fetch in force, if that is an icon of its site
	// (page.Fetch.IsIcon). w: loader
	Icon = txn.Column{Group: GroupIcon, Name: "sum"}
	// IconImage is that body. w: loader
	IconImage = txn.Column{Group: GroupBody, Name: "icon"}
)

// IconSum is the SHA-256 of the image of an icon.
type IconSum [32]byte

// DecodeIcon decodes the value of Icon.
func DecodeIcon(b []byte) (s IconSum, err error) {
	if copy(s[:], b) != len(s) || len(b) != len(s) {
		return s, fmt.Errorf("schema: digest of an icon has %d bytes: %w", len(b), store.ErrCorrupt)
	}
	return s, nil
}
