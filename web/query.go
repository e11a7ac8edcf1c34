package web

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/webindexer/indexer/index/query"
	"github.com/webindexer/indexer/index/search"
)

// maxQuery bounds the query as typed, in bytes; the index bounds the number of words.
const maxQuery = 1000

// searchParams are the parameters of a search request.
type searchParams struct {
	Words string // as typed
	Site  string // limits results to a host and its subdomains
	Lang  string // limits results to a language, by its tag
	Year  string // limits results to the year of their last fetch
	Type  string // limits results to a file type
	Sort  string // "date", or "" for relevance
	// Reader is the language of the reader if the request names it; "any" for all alike.
	Reader string
	// Explain asks for an explanation of each score. Verbatim searches for the words as
	// typed.
	Explain, Verbatim bool
}

var (
	// A host is a name, which may have underscores, or an IPv6 address; the index parses it.
	hostForm = regexp.MustCompile(`^([\pL\pM\pN._-]+(:\d+)?|[0-9a-f:.]+|\[[0-9a-f:.]+\](:\d+)?)$`)
	yearForm = regexp.MustCompile(`^[12][0-9]{3}$`)
	typeForm = regexp.MustCompile(`^[a-z0-9]*[a-z][a-z0-9]*$`)
)

// readSearch reads the parameters of a search. Its error is for the client.
func readSearch(v url.Values) (p searchParams, err error) {
	raw := v.Get("q")
	// The author of a link chose these words, not the visitor who follows it.
	p = searchParams{Words: clean(raw, maxQuery), Site: siteOf(v.Get("site")), Lang: strings.ToLower(strings.TrimSpace(v.Get("lang")))}
	p.Year, p.Type = v.Get("year"), strings.ToLower(v.Get("type"))
	p.Explain, p.Verbatim = v.Get("explain") == "1", v.Get("verbatim") == "1"
	if p.Sort = v.Get("sort"); p.Sort == "relevance" {
		p.Sort = ""
	}
	switch {
	case p.Sort != "" && p.Sort != "date":
		return p, badRequest("the parameter sort must be relevance or date")
	case len(raw) > maxQuery:
		return p, badRequest("the query is too long: at most %d bytes", maxQuery)
	case p.Site != "" && (len(p.Site) > 255 || !hostForm.MatchString(p.Site)):
		return p, badRequest("the parameter site must be a host name, such as example.org")
	case p.Lang != "" && !isLanguageTag(p.Lang):
		return p, badRequest("the parameter lang must be a language tag, such as en")
	case p.Year != "" && !yearForm.MatchString(p.Year):
		return p, badRequest("the parameter year must be a year, such as 2024")
	case p.Type != "" && (len(p.Type) > 8 || !typeForm.MatchString(p.Type)):
		return p, badRequest("the parameter type must be a file name extension, such as html")
	}
	p.Reader, err = readerOf(v)
	return p, err
}

// siteOf extracts the host from a host name or URL that a user typed or pasted.
func siteOf(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	s, _, _ = strings.Cut(s, "/")
	return s
}

// query is the query for the index, filters included.
func (p searchParams) query() string {
	var filters []string
	if p.Site != "" {
		filters = append(filters, "site:"+p.Site)
	}
	if p.Lang != "" {
		filters = append(filters, "lang:"+p.Lang)
	}
	if year, err := strconv.Atoi(p.Year); err == nil {
		filters = append(filters, "after:"+p.Year, "before:"+strconv.Itoa(year+1))
	}
	if p.Type != "" {
		filters = append(filters, "filetype:"+p.Type)
	}
	return query.Narrow(p.Words, filters...)
}

// options returns the index's options for a window of the results.
func (p searchParams) options(usual search.Options, limit, offset int) search.Options {
	o := usual
	o.Limit, o.Offset, o.Explain, o.Verbatim = limit, offset, p.Explain, p.Verbatim
	if p.Sort == "date" {
		o.Sort = search.ByDate
	}
	switch p.Reader {
	case "":
	case "any":
		o.Language = ""
	default:
		o.Language = p.Reader
	}
	if p.Site != "" {
		o.PerHost = 0 // the search asks for a single host
	}
	return o
}

// values returns the URL parameters of the search.
func (p searchParams) values() url.Values {
	v := url.Values{}
	for name, value := range map[string]string{"q": p.Words, "site": p.Site, "lang": p.Lang, "year": p.Year, "type": p.Type, "sort": p.Sort, "reader": p.Reader} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if p.Explain {
		v.Set("explain", "1")
	}
	if p.Verbatim {
		v.Set("verbatim", "1")
	}
	return v
}

// reworded returns the same search for a query that the index suggested. The suggestion
// includes the filters.
func (p searchParams) reworded(query string) searchParams {
	p.Verbatim = false
	filters := strings.TrimPrefix(p.query(), p.Words)
	if words, ok := strings.CutSuffix(query, filters); ok {
		p.Words = words
	} else {
		p.Words, p.Site, p.Lang, p.Year, p.Type = query, "", "", "", ""
	}
	return p
}

// filtered reports whether filters limit the results.
func (p searchParams) filtered() bool { return p.Site+p.Lang+p.Year+p.Type != "" }

// link is the address of the search.
func (p searchParams) link() string { return "/?" + p.values().Encode() }
