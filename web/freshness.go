package web

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"indexer/page"
	"indexer/repository"
)

// Freshener tells when pages could be found. An Inspector that is one, and answers at
// once, has it shown with results; [Local] is one.
type Freshener interface {
	Freshness(ctx context.Context, u page.URL) (repository.Freshness, error)
}

// freshFor is how long ago a page may have been fetched to be told how soon it could be
// found. Of a recorded crawl that says nothing: it was fetched years before it came.
const freshFor = 24 * time.Hour

// delay is how long after it was fetched a page could be found; false where that is
// not known, or of no interest.
func delay(f repository.Freshness, fetched time.Time) (time.Duration, bool) {
	if f.SearchableAt == nil || f.AtLatest || fetched.IsZero() {
		return 0, false
	}
	d := f.SearchableAt.Sub(fetched)
	return d, d >= 0 && d < freshFor
}

// delayText is a duration for people.
func delayText(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(d.Milliseconds(), 1))
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return d.Round(time.Minute).String()
}

// addDelays tells of fresh results how soon they could be found. Results are shown
// all the same if that cannot be had.
func (s *Server) addDelays(ctx context.Context, hits []hitView) {
	from, ok := s.opts.Inspect.(Freshener)
	if !ok {
		return
	}
	for i := range hits {
		h := hits[i].Hit
		if time.Since(h.FetchedAt) > freshFor {
			continue
		}
		f, err := from.Freshness(ctx, h.URL)
		if err != nil {
			s.opts.Log.Warn("it cannot be told how fresh a result is", zap.Stringer("url", h.URL), zap.Error(err))
			return
		}
		if d, ok := delay(f, h.FetchedAt); ok {
			hits[i].Delay = delayText(d)
		}
	}
}

// Delay is how long after it was fetched the page could be found, in words; "" where
// that is not known.
func (p *documentPage) Delay() string {
	if p.FetchedAt == nil {
		return ""
	}
	if d, ok := delay(p.Freshness, *p.FetchedAt); ok {
		return delayText(d)
	}
	return ""
}
