package web

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"indexer/page"
	"indexer/repository"
)

// momentOf reads the moment that a request is about: now where it says nothing, else the
// timestamp of a commit, or a time of RFC 3339.
func momentOf(params url.Values) (repository.Moment, error) {
	raw := strings.TrimSpace(params.Get("at"))
	if raw == "" {
		return repository.Moment{}, nil
	}
	if ts, err := strconv.ParseUint(raw, 10, 64); err == nil && ts > 0 {
		return repository.Moment{TS: ts}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, raw); err == nil {
		return repository.Moment{Time: t.UTC()}, nil
	}
	return repository.Moment{}, badRequest("the parameter at takes the timestamp of a commit, or a time like 2026-03-01T12:00:00Z")
}

// At is the timestamp that the page is of; 0 is now.
func (p *documentPage) At() uint64 {
	if p.AsOf == nil {
		return 0
	}
	return p.AsOf.TS
}

// Doc is where the page of another URL is, as of the same moment.
func (p *documentPage) Doc(u page.URL) string { return copyAddress("/doc", u, p.At(), "") }

// Now is where the page is as of now.
func (p *documentPage) Now() string { return copyAddress("/doc", p.URL, 0, "") }

// last is the timestamp at which a version was in force for the last time, when all that
// depends on it had been computed; 0 is now. A version's own timestamp is that of the
// load, after which observers had yet to hear of it.
func (p *documentPage) last(i int) uint64 {
	if i == 0 {
		return 0
	}
	return p.Versions[i-1].TS - 1
}

// Shown reports whether a version, by its place in the list, is the one that the page is of.
func (p *documentPage) Shown(i int) bool {
	at := p.At()
	return at != 0 && p.Versions[i].TS <= at && (i == 0 || p.Versions[i-1].TS > at)
}

// Then is where a version's page is as of the end of its time; "" for the newest, which is
// as of now, and for one that can no longer be read.
func (p *documentPage) Then(i int) string {
	if i == 0 || !p.Versions[i].Readable {
		return ""
	}
	return copyAddress("/doc", p.URL, p.last(i), "")
}

// VersionCopy is where the copy of a version is shown; "" if there is none.
func (p *documentPage) VersionCopy(i int) string {
	v := p.Versions[i]
	if !v.Readable || v.Status < 200 || v.Status > 299 {
		return ""
	}
	return viewLink(p.URL, v.TS)
}

// From and Until are when the version that the page of the past is of was fetched, and the
// next one; zero where that is not stored.
func (p *documentPage) From() time.Time {
	for i, v := range p.Versions {
		if p.Shown(i) {
			return v.FetchedAt
		}
	}
	return time.Time{}
}

// Until: see From.
func (p *documentPage) Until() time.Time {
	for i := range p.Versions {
		if i > 0 && p.Shown(i) {
			return p.Versions[i-1].FetchedAt
		}
	}
	return time.Time{}
}
