package web

import (
	"time"

	"github.com/webindexer/indexer/page"
)

// At is the timestamp of the state that the page shows; 0 is now.
func (p *documentPage) At() uint64 {
	if p.AsOf == nil {
		return 0
	}
	return p.AsOf.TS
}

// Doc is the address of the page of another URL at the same moment.
func (p *documentPage) Doc(u page.URL) string { return address("/doc", u, p.At(), "") }

// Now is the address of the same page as of now.
func (p *documentPage) Now() string { return address("/doc", p.URL, 0, "") }

// last is the last timestamp at which a version was in force; 0 is now. The version's own
// timestamp would be too early: it is that of the load, before any observer had run.
func (p *documentPage) last(i int) uint64 {
	if i == 0 {
		return 0
	}
	return p.Versions[i-1].TS - 1
}

// Shown reports whether the page shows the state of the i-th version.
func (p *documentPage) Shown(i int) bool {
	at := p.At()
	return at != 0 && p.Versions[i].TS <= at && (i == 0 || p.Versions[i-1].TS > at)
}

// Then is the address of the page as of the last moment of the i-th version; "" for the
// newest, which is in force now, and for a version that can no longer be read.
func (p *documentPage) Then(i int) string {
	if i == 0 || !p.Versions[i].Readable {
		return ""
	}
	return address("/doc", p.URL, p.last(i), "")
}

// VersionCopy is the address of the copy of the i-th version; "" if there is none.
func (p *documentPage) VersionCopy(i int) string {
	if v := p.Versions[i]; v.Readable && v.HasCopy {
		return viewLink(p.URL, v.TS)
	}
	return ""
}

// From is when the version that a page of the past shows was fetched; zero if that is not
// stored.
func (p *documentPage) From() time.Time {
	for i, v := range p.Versions {
		if p.Shown(i) {
			return v.FetchedAt
		}
	}
	return time.Time{}
}

// Until is when the version after that was fetched; zero if that is not stored.
func (p *documentPage) Until() time.Time {
	for i := range p.Versions {
		if i > 0 && p.Shown(i) {
			return p.Versions[i-1].FetchedAt
		}
	}
	return time.Time{}
}
