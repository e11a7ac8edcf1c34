package crawler

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"indexer/crawler/fetch"
	"indexer/page"
)

// Some hosts answer 200 for what does not exist. Once a day a path is requested that
// cannot exist. If a page comes, other pages that say the same are taken for "not
// found".
//
// A page lost by mistake is worse than an empty one indexed, so:
//
//   - the same means the same title and text, but for the page's own path in it; a
//     page that merely resembles the answer is a page;
//   - a host whose first page says the same as the answer shows everything alike (a
//     program for browsers, a page to sign in): nothing is concluded there;
//   - seeds and root pages are never taken for it;
//   - a page that was known before needs two strikes, like a 404.
//
// Hosts that redirect what does not exist need no such thing: a redirect is one.

// probeInterval is how often a host is probed.
const probeInterval = 24 * time.Hour

// SoftNotFound is what is known of how a host answers for what does not exist.
type SoftNotFound struct {
	// Probed is when it was last asked for it.
	Probed time.Time `json:"probed,omitzero"`
	// Signature is of the page that came, "" if none did. First is that of the first page
	// that was fetched of the host.
	Signature string `json:"signature,omitempty"`
	First     string `json:"first,omitempty"`
}

// usable tells whether conclusions can be drawn.
func (s *SoftNotFound) usable() bool { return s.Signature != "" && s.Signature != s.First }

type softNotFound struct {
	SoftNotFound
}

// softCheck is what a visit has to find out; softSign what it found.
type softCheck struct {
	first   bool   // the signature, as it is the host's first page
	against string // the signature of "not found"; "": no need to compare
}

type softSign struct {
	signature string
	notFound  bool
}

func (s *softNotFound) ask(j Job, o *Sources) softCheck {
	if o.NoProbe {
		return softCheck{}
	}
	c := softCheck{first: s.First == ""}
	if s.usable() && j.Depth > 0 && (j.URL.Path() != "/" || j.URL.Query() != "") {
		c.against = s.Signature
	}
	return c
}

func (c softCheck) look(res *fetch.Result) softSign {
	if !c.first && c.against == "" {
		return softSign{}
	}
	sig := signatureOf(&res.Fetch)
	return softSign{signature: sig, notFound: sig != "" && sig == c.against}
}

func (s *softNotFound) learn(found softSign) {
	if s.First == "" {
		s.First = found.signature
	}
}

func (s *softNotFound) probed(signature string) { s.Signature = signature }

// queueProbe has the host probed if it is time and there is more to come of it.
func (c *Crawler) queueProbe(h *host, now time.Time) {
	due := h.soft.Probed.IsZero() || now.Sub(h.soft.Probed) >= probeInterval
	if c.opts.Sources.NoProbe || !due || h.soft.First == "" || len(h.jobs.ready) == 0 {
		return
	}
	u, err := page.ParseURL(h.key + "/" + randomName(c.rng))
	if err != nil {
		return // not a host; it was fetched from, so it is one
	}
	h.soft.Probed, h.dirty = now, true
	h.side.queue = append(h.side.queue, side{kind: probeSide, url: u})
}

// randomName is a file name that nobody else thinks of.
func randomName(rng *rand.Rand) string {
	name := make([]byte, 24)
	for i := range name {
		name[i] = 'a' + byte(rng.IntN(26))
	}
	return string(name)
}

// signatureOf is a hash of what a page says, its own path left out; "" of what is no
// page. Of a page that says next to nothing it is the body that is hashed.
func signatureOf(f *page.Fetch) string {
	doc := page.Interpret(f)
	if doc.Outcome != page.Page {
		return ""
	}
	const minText = 64 // as for content keys (semantics.md section 3)
	said := []byte(doc.Title + "\n" + doc.Text)
	if utf8.RuneCountInString(doc.Text) < minText {
		said = f.Body
	}
	for _, own := range []string{string(f.URL), f.URL.Path(), path.Base(f.URL.Path())} {
		if len(strings.Trim(own, "/")) >= 4 {
			said = bytes.ReplaceAll(said, []byte(own), nil)
		}
	}
	sum := sha256.Sum256(said)
	return hex.EncodeToString(sum[:])
}
