package web

import (
	"context"
	"fmt"
	"net/http"

	"github.com/webindexer/indexer/index/search"
)

// suggestions is the usual number of suggestions. Browsers and the page show them all.
const suggestions = 8

// apiSuggest completes typed text, in the format of OpenSearch Suggestions 1.1, which
// browsers ask for in their address bars: the text as typed, and the completions.
//
// Each key that is pressed makes a request, and the next key cancels it. From time to
// time a request has to make the table of completions (index.Reader.Complete), so it
// continues after its client has gone. Otherwise a fast typist would never get a
// suggestion.
func (s *Server) apiSuggest(w http.ResponseWriter, r *http.Request) error {
	params := r.URL.Query()
	asked, err := readSearch(params)
	if err != nil {
		return err
	}
	limit, err := integer(params, "limit", suggestions, 1, search.MaxCompletions)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), s.opts.Time)
	defer cancel()
	typed := params.Get("q") // a space at its end says that a word is complete
	list, err := s.opts.Search.Complete(ctx, search.CompletionQuestion{Typed: typed, Site: asked.Site, Language: asked.Lang, N: limit})
	if err != nil {
		return fmt.Errorf("suggest: %w", err)
	}
	texts := make([]string, 0, len(list))
	for _, c := range list {
		texts = append(texts, clean(c.Text, maxTitle))
	}
	return sendJSONAs(w, "application/x-suggestions+json", []any{typed, texts})
}
