package web

import (
	"context"
	"strings"
	"time"

	"github.com/webindexer/indexer/index/search"

	"go.uber.org/zap"
)

// filtersAge is the maximum age of the counts in the filters.
const filtersAge = 10 * time.Second

// choice is a site or language to which results can be limited.
type choice struct {
	Value, Name string
	Documents   int // 0 if none or unknown
	Chosen      bool
}

// filters fills in the sites and languages that the page offers as filters: those in the
// index, and those of the request. If they cannot be counted, the page has fewer.
func (s *Server) filters(ctx context.Context, p *searchPage) {
	known, err := s.known.get(ctx, filtersAge, s.opts.Search.Filters)
	if err != nil {
		s.opts.Log.Warn("cannot count sites and languages for the filters", zap.Error(err))
	}
	p.Sites = choices(known.Sites, p.Site, func(site string) string { return clean(site, maxShown) })
	p.MoreSites = known.MoreSites
	p.Languages = choices(known.Languages, p.Lang, func(tag string) string {
		name := languageName(tag)
		if strings.Contains(tag, "-") && name != tag {
			name += " (" + tag + ")"
		}
		return name
	})
}

// choices returns the known filters, and the one asked for even if the index lacks it.
func choices(known []search.Filter, asked string, name func(string) string) []choice {
	list := make([]choice, 0, len(known)+1)
	there := asked == ""
	for _, f := range known {
		there = there || f.Value == asked
		list = append(list, choice{f.Value, name(f.Value), f.Documents, f.Value == asked})
	}
	if !there {
		list = append(list, choice{Value: asked, Name: name(asked), Chosen: true})
	}
	return list
}
