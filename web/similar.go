package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/webindexer/indexer/index/search"
	"github.com/webindexer/indexer/page"
)

// The list of similar pages on the page of a document is bounded in length and time: it
// compares all sketches of the index, which takes a second for a few hundred thousand
// documents. The API and `indexer similar` have no such bound.
const (
	listedSimilar = 10
	similarTime   = 500 * time.Millisecond
	maxAPISimilar = 1000
)

// similarView is the list on the page of a document.
type similarView struct {
	*search.SimilarPages
	Late bool // there was not enough time
}

// More is how many pages are not listed.
func (v *similarView) More() int { return max(v.Total-len(v.Pages), 0) }

// similar finds the pages that are like a document. If that fails, the page does without.
func (s *Server) similar(ctx context.Context, u page.URL) *similarView {
	limited, cancel := context.WithTimeout(ctx, similarTime)
	defer cancel()
	list, err := s.opts.Search.Similar(limited, u, search.SimilarOptions{Limit: listedSimilar})
	switch {
	case err == nil:
		return &similarView{SimilarPages: list}
	case limited.Err() != nil && ctx.Err() == nil:
		return &similarView{SimilarPages: new(search.SimilarPages), Late: true}
	case !errors.Is(err, search.ErrNotIndexed) && ctx.Err() == nil:
		s.opts.Log.Warn("cannot find similar pages", zap.String("url", string(u)), zap.Error(err))
	}
	return nil
}

// percent is a similarity for people.
func percent(similarity float64) string { return strconv.Itoa(int(similarity*100)) + " %" }

func (s *Server) apiSimilar(w http.ResponseWriter, r *http.Request) error {
	params := r.URL.Query()
	u, err := urlOf(params)
	if err != nil {
		return err
	}
	var o search.SimilarOptions
	if o.Limit, err = integer(params, "limit", 20, 1, maxAPISimilar); err != nil {
		return err
	}
	if raw := params.Get("threshold"); raw != "" {
		if o.Threshold, err = strconv.ParseFloat(raw, 64); err != nil || !(o.Threshold >= 0.1 && o.Threshold <= 1) {
			return badRequest("the parameter threshold must be a number from 0.1 to 1")
		}
	}
	list, err := s.opts.Search.Similar(r.Context(), u, o)
	if errors.Is(err, search.ErrNotIndexed) {
		return &requestError{http.StatusNotFound, search.ErrNotIndexed.Error()}
	}
	if err != nil {
		return fmt.Errorf("pages similar to %s: %w", u, err)
	}
	list.Title = bounded(list.Title, maxAPITitle)
	for i := range list.Pages {
		list.Pages[i].Title = bounded(list.Pages[i].Title, maxAPITitle)
	}
	return sendJSON(w, list)
}
