package cli

import (
	"io"
	"time"

	"indexer/crawler/frontier"
	"indexer/internal/longjson"
	"indexer/observers"
	"indexer/page"
	"indexer/repository"
)

// The fields of an inspection in JSON before, between and after its lists. Together they
// are the fields of repository.Inspection in its order, and some more.
type (
	inspectionFields struct {
		URL        page.URL   `json:"url"`
		Outcome    string     `json:"outcome"`
		Status     int        `json:"status"`
		FetchedAt  *time.Time `json:"fetched_at"`
		Title      string     `json:"title"`
		Language   string     `json:"language"`
		ContentKey string     `json:"content_key"`
		LeadsTo    page.URL   `json:"leads_to"`
		Terminal   page.URL   `json:"terminal"`
		Cluster    string     `json:"cluster"`
		Canonical  page.URL   `json:"canonical"`
	}
	inspectionRank struct {
		Rank    *float64 `json:"rank"`
		URLRank *float64 `json:"url_rank"`
	}
	inspectionTail struct {
		Frames  []page.URL       `json:"frames,omitempty"`
		Indexed bool             `json:"indexed"`
		Reason  string           `json:"reason"`
		Failure string           `json:"failure,omitempty"`
		Pending int              `json:"pending"`
		AsOf    *repository.AsOf `json:"as_of,omitempty"`

		MembersTotal  int                  `json:"members_total"`
		OutlinksTotal int                  `json:"outlinks_total"`
		InlinksTotal  int                  `json:"inlinks_total"`
		LinkingPages  int                  `json:"linking_pages_total"`
		LinkedPages   int                  `json:"linked_pages_total"`
		Next          string               `json:"next,omitempty"` // cursor, if a list was cut
		Crawl         *frontier.Inspection `json:"crawl,omitempty"`
	}
)

// inspectionJSON writes an inspection as one object, in pieces.
func inspectionJSON(w io.Writer, i *repository.Inspected, visits *frontier.Inspection) error {
	o := longjson.New(w)
	steps := []func() error{
		o.Open,
		func() error {
			return o.Fields(&inspectionFields{
				i.URL, i.Outcome, i.Status, i.FetchedAt, i.Title, i.Language, i.ContentKey, i.LeadsTo, i.Terminal, i.Cluster, i.Canonical,
			})
		},
		func() error {
			return o.List("members", func(put func(any) error) error {
				return i.EachMember(func(u page.URL) error { return put(u) })
			})
		},
		func() error { return o.Fields(&inspectionRank{i.Rank, i.URLRank}) },
		func() error {
			return o.List("outlinks", func(put func(any) error) error {
				return i.EachOutlink(func(l repository.Outlink) error { return put(&l) })
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
			return o.Fields(&inspectionTail{
				i.Frames, i.Indexed, i.Reason, i.Failure, i.Pending, i.AsOf,
				i.MembersTotal, i.OutlinksTotal, inlinks, pages, i.OutPagesTotal(), i.Next(), visits,
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
