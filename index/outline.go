package index

import (
	"fmt"

	"github.com/webindexer/indexer/page"
)

// The outline of a text is stored with it: the ranges of its main content, its sections, and
// the translations of the page.

// packOutline compresses an outline. An empty outline takes no bytes.
func packOutline(outline string) []byte {
	if outline == "" {
		return []byte{}
	}
	return packPart(outline)
}

// unpackOutline decodes the stored outline of a text of n bytes or more.
func unpackOutline(stored []byte, n int, more bool) (page.Outline, error) {
	encoded, err := unpack(stored)
	if err != nil {
		return page.Outline{}, err
	}
	if more {
		n = 2 * MaxText
	}
	o, err := page.DecodeOutline(encoded, n)
	if err != nil {
		return o, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return o, nil
}

// headOf returns the head of a text and the outline of the whole text.
func headOf(outline, head []byte, more bool) (text string, o page.Outline, err error) {
	if text, err = unpack(head); err != nil || len(outline) == 0 {
		return text, o, err
	}
	o, err = unpackOutline(outline, len(text), more)
	return text, o, err
}
