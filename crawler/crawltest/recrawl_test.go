package crawltest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webindexer/indexer/crawler"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
)

// recrawl is a crawl of recrawl.txt that continues run by run.
type recrawl struct {
	*testing.T
	web     *Web
	session *Session
}

// TestRecrawl visits pages again that changed, and some that did not.
func TestRecrawl(t *testing.T) {
	t.Parallel()
	r := newRecrawl(t)

	t.Log("nothing has changed: the server says so, and only refresh runs, which notes the time")
	before := observerRuns(r.session.Repo)
	r.run("same")
	if got := r.statuses(); got != "/same 304" {
		t.Errorf("requests %q", got)
	}
	if after := observerRuns(r.session.Repo); after != before {
		t.Errorf("observers other than refresh ran %d times after a 304", after-before)
	}

	r.web.At("2024-02-15")
	r.forgetHost()
	t.Log("one page has changed, which leads to another; a 404 takes nothing out the first time, a 410 does")
	r.run("new", "lost", "gone", "closed", "back")
	if got, want := r.statuses(), "/back 404, /found 200, /gone 410, /lost 404, /new 200, /robots.txt 200"; got != want {
		t.Errorf("requests %q, want %q", got, want)
	}
	docs := r.wantIndexed("", "back", "found", "lost", "new", "same")
	if !slices.ContainsFunc(docs, func(d document) bool { return strings.Contains(d.Text, "frost") }) {
		t.Error("what the changed page says is not in the index")
	}

	t.Log("not found a second time")
	r.run("lost", "back")
	if got, want := r.statuses(), "/back 404, /lost 404"; got != want {
		t.Errorf("requests %q, want %q", got, want)
	}
	r.wantIndexed("", "found", "new", "same")

	t.Log("back as it was: asked without the tag, for the page is not in the index any more")
	r.web.At("2024-03-15")
	r.run("back")
	if got := r.statuses(); got != "/back 200" {
		t.Errorf("requests %q", got)
	}
	r.wantIndexed("", "back", "found", "new", "same")

	Verify(t, r.session.Repo)
	_, digest := Export(t, r.session.Repo)
	if _, replayed := Replay(t, r.session.WARC); replayed != digest {
		t.Errorf("the archive's replay has digest %s, the crawl %s", replayed, digest)
	}
}

// openInJanuary serves a web as it was in January, and opens a crawl of it that loses
// no time with servers that fail.
func openInJanuary(t *testing.T, file, seed string) (*Web, *Session) {
	t.Helper()
	w := ServeFile(t, file)
	w.At("2024-01-15")
	s := NewSetting(t.TempDir(), 5*time.Millisecond, w.URL(seed))
	s.Options.MaxWait = -1
	session := openCrawl(t, s)
	t.Cleanup(func() { closeCrawl(t, session) })
	return w, session
}

// newRecrawl has crawled the web once, in January.
func newRecrawl(t *testing.T) *recrawl {
	t.Helper()
	w, session := openInJanuary(t, "recrawl.txt", "http://r.ip40/")
	r := &recrawl{t, w, session}
	r.run()
	r.wantIndexed("", "back", "closed", "gone", "lost", "new", "same")
	return r
}

// run makes pages due and crawls what is due then.
func (r *recrawl) run(due ...string) {
	r.Helper()
	var urls []page.URL
	for _, path := range due {
		urls = append(urls, r.web.URL("http://r.ip40/"+path))
	}
	r.session.MakeDue(r, urls...)
	r.web.Forget()
	if err := r.session.Run(r.Context()); err != nil {
		r.Fatal(err)
	}
}

// forgetHost has the host's robots.txt fetched again.
func (r *recrawl) forgetHost() {
	r.Helper()
	if err := r.session.Front.SaveHost(r.Context(), crawler.HostOf(r.web.URL("http://r.ip40/")), nil); err != nil {
		r.Fatal(err)
	}
}

// statuses are the requests of the last run, by path.
func (r *recrawl) statuses() string {
	var list []string
	for _, x := range r.web.Log() {
		if !isProbe(x.Path) {
			list = append(list, fmt.Sprint(x.Path, " ", x.Status))
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func (r *recrawl) wantIndexed(paths ...string) []document {
	r.Helper()
	docs, _ := Export(r, r.session.Repo)
	var want []string
	for _, p := range paths {
		want = append(want, "r.ip40/"+p)
	}
	checkMembers(r, r.web.Members(docs), want)
	return docs
}

// observerRuns counts what observers did, without refresh, which notes the times of
// unchanged pages.
func observerRuns(r *repository.Repository) (n int64) {
	for _, o := range r.Live().Observers {
		if o.Observer != "refresh" {
			n += o.Runs
		}
	}
	return n
}
