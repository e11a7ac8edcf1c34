package web

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository/inspect"
)

// The API returns the answers of the command line: the same fields with the same
// meaning. Fields may be added but are never renamed or removed (testdata/api-fields
// lists the promised fields). Errors are also JSON objects, and hold the HTTP status.

// apiError is the body of an error response.
type apiError struct {
	Status int    `json:"status"`
	Error  string `json:"error"`
}

// apiVersionList is the answer of /api/versions.
type apiVersionList struct {
	URL      page.URL              `json:"url"`
	Versions []inspect.PageVersion `json:"versions"` // newest first
}

// The bounds of answers.
const (
	maxAPIHits  = 100
	maxAPIList  = 10_000
	usualList   = 1_000
	maxAPITitle = 4 << 10 // bytes of a title or an anchor
)

func sendJSON(w http.ResponseWriter, v any) error { return sendJSONAs(w, "application/json", v) }

// sendJSONAs encodes the whole answer before it sends the first byte.
func sendJSONAs(w http.ResponseWriter, mediaType string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	send(w, http.StatusOK, mediaType, append(b, '\n'))
	return nil
}

func (s *Server) apiQuery(w http.ResponseWriter, r *http.Request) error {
	params := r.URL.Query()
	asked, err := readSearch(params)
	if err != nil {
		return err
	}
	if asked.query() == "" {
		return badRequest("the query is missing: add ?q=words")
	}
	limit, err := integer(params, "limit", perPage, 1, maxAPIHits)
	if err != nil {
		return err
	}
	offset, err := integer(params, "offset", 0, 0, search.MaxResults-limit)
	if err != nil {
		return err
	}
	options := asked.options(s.opts.Query, limit, offset)
	if options.PerHost, err = integer(params, "per_host", options.PerHost, 0, perPage); err != nil {
		return err
	}
	facets, err := integer(params, "facets", 0, 0, 1)
	if err != nil {
		return err
	}
	options.Facets = facets == 1
	res, err := s.opts.Search.Search(r.Context(), asked.query(), options)
	if err != nil {
		return fmt.Errorf("search: %w", err)
	}
	for i := range res.Hits {
		res.Hits[i].Title = bounded(res.Hits[i].Title, maxAPITitle)
	}
	return sendJSON(w, res)
}

func (s *Server) apiInspect(w http.ResponseWriter, r *http.Request) error {
	params := r.URL.Query()
	u, err := urlOf(params)
	if err != nil {
		return err
	}
	var part inspect.Window
	if part.Limit, err = integer(params, "limit", usualList, 0, maxAPIList); err != nil {
		return err
	}
	if part.Offset, err = integer(params, "offset", 0, 0, 1<<30); err != nil {
		return err
	}
	at, err := momentOf(params)
	if err != nil {
		return err
	}
	d, err := s.opts.Inspect.Inspect(r.Context(), u, inspect.Windows{Members: part, Inlinks: part, Outlinks: part}, at)
	if err != nil {
		return fmt.Errorf("inspect %s: %w", u, err)
	}
	d.Title = bounded(d.Title, maxAPITitle)
	for i := range d.Overview.Inlinks {
		d.Overview.Inlinks[i].Anchor = bounded(d.Overview.Inlinks[i].Anchor, maxAPITitle)
	}
	for i := range d.Overview.Outlinks {
		d.Overview.Outlinks[i].Anchor = bounded(d.Overview.Outlinks[i].Anchor, maxAPITitle)
	}
	return sendJSON(w, d)
}

func (s *Server) apiVersions(w http.ResponseWriter, r *http.Request) error {
	u, err := urlOf(r.URL.Query())
	if err != nil {
		return err
	}
	list, err := s.opts.Inspect.Versions(r.Context(), u)
	if err != nil {
		return fmt.Errorf("versions of %s: %w", u, err)
	}
	return sendJSON(w, apiVersionList{u, list})
}

func (s *Server) apiStats(w http.ResponseWriter, r *http.Request) error {
	stats, err := s.stats.get(r.Context(), statsAge, s.opts.Inspect.Stats)
	if err != nil {
		return fmt.Errorf("stats: %w", err)
	}
	return sendJSON(w, stats)
}

func (s *Server) apiDescription(w http.ResponseWriter, _ *http.Request) error {
	send(w, http.StatusOK, "application/json", s.api)
	return nil
}
