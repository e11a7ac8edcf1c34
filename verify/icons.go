package verify

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// compareIcons compares the stored icons with the fetches in force: each is the body of one. A
// missing icon is not a difference, because earlier versions kept none.
func (v *verifier) compareIcons(ctx context.Context) error {
	return v.scan(ctx, schema.GroupIcon, func(row string, cols []txn.Version) error {
		v.rep.Checked["icons"]++
		url := readableURL(row)
		stored, err := schema.DecodeIcon(cols[0].Data)
		if err != nil {
			return fmt.Errorf("icon of %s: %w", url, err)
		}
		if len(cols) > 1 {
			v.rep.add(schema.GroupIcon, url, cols[1].Name, fmt.Sprintf("%x", cols[1].Data), "nothing beside "+cols[0].Name)
		}
		content, err := v.tx.GetOnce(ctx, row, schema.FetchContent)
		if err != nil {
			return err
		}
		inForce := ""
		if content.Exists {
			_, sum, err := schema.DecodeContent(content.Data)
			if err != nil {
				return err
			}
			inForce = digest(sum)
		}
		v.rep.same(schema.GroupIcon, url, cols[0].Name, digest(stored), inForce)
		image, err := v.tx.GetOnce(ctx, row, schema.IconImage)
		if err == nil {
			v.rep.same(schema.GroupBody, url, schema.IconImage.Name+" (digest)", digest(sha256.Sum256(image.Data)), digest(stored))
		}
		return err
	})
}
