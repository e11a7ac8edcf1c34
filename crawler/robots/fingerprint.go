package robots

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Fingerprint is the same for groups that allow the same by the same rules, wherever
// these stand in their files. Equal rules in another order may give another one.
func (g *Group) Fingerprint() string {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%t %t %v", g.fallback.Allow, g.opts.Verbatim, len(g.rules)) // a hash takes all
	for _, r := range g.rules {
		_, _ = fmt.Fprintf(h, " %t %q", r.Allow, r.Text)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
