package schema

import (
	"fmt"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/txn"
)

// GroupIcon is the locality group that says which URLs are icons of sites. Its rows are few and
// small, so a search can read those of some hosts.
const GroupIcon = "icon" // URL rows

// The columns of icons.
var (
	// Icon is the SHA-256 of the body of the fetch in force, if that is the icon of its site
	// (page.OwnIcon). w: loader
	Icon = txn.Column{Group: GroupIcon, Name: "sum"}
	// SquareImage is the SHA-256 of the body of the fetch in force, if that is the icon of a site
	// that names it (page.NamedIcon). w: loader
	SquareImage = txn.Column{Group: GroupIcon, Name: "square"}
	// IconImage is the body that Icon or SquareImage describes. w: loader
	IconImage = txn.Column{Group: GroupBody, Name: "icon"}
)

// IconColumns has the columns of icons, by the use of the icon.
var IconColumns = map[page.IconUse]txn.Column{page.OwnIcon: Icon, page.NamedIcon: SquareImage}

// IconSum is the SHA-256 of the image of an icon.
type IconSum [32]byte

// DecodeIcon decodes the value of Icon or SquareImage.
func DecodeIcon(b []byte) (s IconSum, err error) {
	if copy(s[:], b) != len(s) || len(b) != len(s) {
		return s, fmt.Errorf("schema: digest of an icon has %d bytes: %w", len(b), store.ErrCorrupt)
	}
	return s, nil
}
