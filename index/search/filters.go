package search

import (
	"cmp"
	"context"
	"net"
	"slices"
	"strings"

	"github.com/webindexer/indexer/index/analysis"

	"golang.org/x/net/publicsuffix"
)

// Filter is a value of site: or lang:, and the number of documents that it leaves.
type Filter struct {
	Value     string // of site: or lang:
	Documents int
}

// Filters are the sites and languages in the index, by number of documents.
type Filters struct {
	Sites, Languages []Filter
	MoreSites        bool // there are more than the two hundred that are listed
}

// maxFilters bounds the listed sites. There are never that many languages.
const maxFilters = 200

// FiltersOf counts the documents of one shard by site and by language.
func FiltersOf(ctx context.Context, in Session) (Filters, error) {
	return filtersOf(ctx, newFanout(in))
}

func filtersOf(ctx context.Context, from *fanout) (f Filters, err error) {
	t, err := from.tags(ctx)
	if err != nil {
		return f, err
	}
	dropSites(t.Sites)
	dropLanguages(t.Languages)
	return Filters{mostFirst(t.Sites), mostFirst(t.Languages), len(t.Sites) > maxFilters}, nil
}

// dropSites removes sites that select nothing else than another site does: example.org if
// all its documents are from docs.example.org, and all of .org.
func dropSites(sites map[string]int) {
	var dropped []string
	for name, n := range sites {
		if bare, ok := strings.CutPrefix(name, "www."); ok && sites[bare] > 0 {
			dropped = append(dropped, name) // site: treats both the same
			continue
		}
		host, _, err := net.SplitHostPort(name)
		if err != nil { // no port
			host = name
		} else if sites[host] == n {
			dropped = append(dropped, host)
		}
		for parent := host; parent != ""; {
			_, parent, _ = strings.Cut(parent, ".")
			suffix, known := publicsuffix.PublicSuffix(parent)
			if sites[parent] == n && !strings.HasPrefix(name, "www.") || known && suffix == parent {
				dropped = append(dropped, parent)
			}
		}
	}
	for _, name := range dropped {
		delete(sites, name)
	}
}

// dropLanguages removes pt-br if all documents in pt are in pt-br.
func dropLanguages(languages map[string]int) {
	for tag, n := range languages {
		if p := analysis.PrimaryLanguage(tag); p != tag && languages[p] == n {
			delete(languages, tag)
		}
	}
}

func mostFirst(counts map[string]int) []Filter {
	list := make([]Filter, 0, len(counts))
	for value, n := range counts {
		list = append(list, Filter{value, n})
	}
	slices.SortFunc(list, func(a, b Filter) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Value, b.Value))
	})
	return list[:min(len(list), maxFilters)]
}
