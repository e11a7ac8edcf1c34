package cli

import (
	"io"

	"github.com/webindexer/indexer/crawler/frontier"
	"github.com/webindexer/indexer/internal/longjson"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/inspect"
)

// inspectionEnd has the fields of an inspection in JSON after its lists.
type inspectionEnd struct {
	*inspect.Tail
	MembersTotal  int                  `json:"members_total"`
	OutlinksTotal int                  `json:"outlinks_total"`
	InlinksTotal  int                  `json:"inlinks_total"`
	LinkingPages  int                  `json:"linking_pages_total"`
	LinkedPages   int                  `json:"linked_pages_total"`
	Next          string               `json:"next,omitempty"` // cursor, if a list was cut
	Crawl         *frontier.Inspection `json:"crawl,omitempty"`
}

// inspectionJSON writes an inspection as one object, in pieces.
func inspectionJSON(w io.Writer, i *inspect.Inspected, visits *frontier.Inspection) error {
	o := longjson.New(w)
	steps := []func() error{
		o.Open,
		func() error { return o.Fields(&i.Head) },
		func() error {
			return o.List("members", func(put func(any) error) error {
				return i.EachMember(func(u page.URL) error { return put(u) })
			})
		},
		func() error { return o.Fields(&i.Ranks) },
		func() error {
			return o.List("outlinks", func(put func(any) error) error {
				return i.EachOutlink(func(l inspect.Outlink) error { return put(&l) })
			})
		},
		func() error {
			return o.List("inlinks", func(put func(any) error) error {
				return i.EachInlink(func(l observers.Inlink) error { return put(&l) })
			})
		},
		func() error {
			pages, inlinks, err := i.LinkTotals()
			if err != nil {
				return err
			}
			return o.Fields(&inspectionEnd{
				&i.Tail, i.MembersTotal, i.OutlinksTotal, inlinks, pages, i.OutPagesTotal(), i.Next(), visits,
			})
		},
		o.Close,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
