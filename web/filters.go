package web

import (
	"context"
	"strings"
	"time"

	"go.uber.org/zap"

	"indexer/index"
)

// filtersAge is how old the counts of the filters may be.
const filtersAge = 10 * time.Second

// choice is a site or a language that results can be limited to.
type choice struct {
	Value, Name string
	Documents   int // 0 if there are none, or nobody knows
	Chosen      bool
}

// filters fills in what the page offers to limit results to: what is in the index, and what
// is asked for. A page without them is better than none.
func (s *Server) filters(ctx context.Context, p *searchPage) {
	known, err := s.known.get(ctx, filtersAge, s.opts.Search.Filters)
	if err != nil {
		s.opts.Log.Warn("sites and languages cannot be counted for the filters", zap.Error(err))
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

// choices are filters by name, with the one that is asked for, whether it is in the index or not.
func choices(known []index.Filter, asked string, name func(string) string) []choice {
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
