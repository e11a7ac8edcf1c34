package loader

import (
	"bytes"
	"cmp"

	"indexer/page"
	"indexer/schema"
)

// decidesOver is semantics.md section 2: the later fetch decides, and of two at
// the same time the one whose body has the greater SHA-256.
//
// Two fetches with the same time and body can still differ in status or headers
// (two redirects within a second). The contract says nothing about them; so that
// it is not the order of arrival that decides, it is what they mean (outcome, then
// target, as package batch has it), and last the bytes of status and headers.
func (p *prepared) decidesOver(inForce schema.FetchStamp, said []byte) (bool, error) {
	if !p.stamp.Time.Equal(inForce.Time) || p.stamp.Sum != inForce.Sum {
		return p.stamp.Newer(inForce), nil
	}
	if bytes.Equal(p.content, said) {
		return false, nil // this very fetch, again
	}
	other, _, err := schema.DecodeContent(said)
	if err != nil {
		return false, err
	}
	other.URL, other.Body = p.fetch.URL, p.fetch.Body // of equal SHA-256
	a, b := page.Interpret(p.fetch), page.Interpret(&other)
	return cmp.Or(cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.Target, b.Target), bytes.Compare(p.content, said)) > 0, nil
}
