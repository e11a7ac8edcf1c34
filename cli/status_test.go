package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/store/bigtable/bigtabletest"
)

// look is what status says of a deployment.
func (f *fleet) look() (s state) {
	f.t.Helper()
	out := runIndexer(f.t, f.args("onlooker", "--format", "json", "status")...)
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&s); err != nil {
		f.t.Fatalf("%v: %s", err, out)
	}
	return s
}

func (s *state) hasProblem(text string) bool {
	return slices.ContainsFunc(s.Problems, func(p string) bool { return strings.Contains(p, text) })
}

// TestStatus shows a deployment with a worker, with rows that no process works on, and
// without an oracle.
func TestStatus(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database and several processes")
	}
	t.Parallel()
	f := newFleet(t)
	if s := f.look(); !s.hasProblem("no worker runs") || len(s.Processes) != 1 || s.Processes[0].Role != "indexer oracle" || s.Latency.Median <= 0 {
		t.Errorf("with an oracle alone, status says %+v", s)
	}
	one := f.worker("one")
	for range 3 {
		one.Until(`this process now holds a lease`)
	}
	s := f.look()
	if len(s.Problems) != 0 || len(s.Oracles) != 1 || s.Oracles[0].State != oracleServing || s.Oracles[0].HandedOut == 0 {
		t.Errorf("with a worker, status says %+v", s)
	}
	for _, p := range s.Processes {
		if !p.Alive || p.PID == 0 || p.Since.IsZero() || p.Place == "" || p.Role == "indexer worker" && p.Index != sqliteIndex {
			t.Errorf("process %+v", p)
		}
	}
	if len(s.Leases) != 3 || !s.Leases[0].Alive || s.Leases[0].Place.Process == 0 {
		t.Errorf("leases %+v", s.Leases)
	}
	text := runIndexer(t, f.args("onlooker", "status")...)
	for _, want := range []string{"has served for", "indexer worker, process ", "problems         none", "rank: process "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	f.wantCrawlShown()
	one.Kill()
	one.Wait()
	load := startChild(t, "", f.args("loader", append([]string{"replay"}, recordedCrawl(t).files...)...)...)
	looks := 0
	until(t, func() bool { // the loader is starting, and the worker's token expires
		s = f.look()
		if looks++; looks > 300 {
			t.Fatalf("without a worker, status says %+v; the loader says %s", s, load.Said())
		}
		return s.Backlog["document"] > 0 && s.OldestMS > 0 && s.hasProblem("no worker runs")
	})
	load.Kill()
	load.Wait()
	f.oracleAt = nil
	if s := f.look(); !s.hasProblem("give --oracle") {
		t.Errorf("without oracles in the settings, status says %+v", s)
	}
	stopChild(t, f.oracles[0])
	if said := f.oracles[0].Said(); !strings.Contains(said, "no longer serving timestamps") || strings.Contains(said, "WARN") {
		t.Errorf("an oracle that was told to stop says %s", said)
	}
}

// wantCrawlShown: status shows the partitions of a crawler that is at work, and nothing of a
// crawl that has ended.
func (f *fleet) wantCrawlShown() {
	f.t.Helper()
	looked := make(chan struct{})
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-looked:
		case <-r.Context().Done():
		}
		http.NotFound(w, r)
	}))
	defer host.Close()
	crawler := startChild(f.t, "", f.args("crawler", "crawl", "--allow-private", host.URL)...)
	var s state
	looks := 0
	until(f.t, func() bool { // the crawler is starting
		s = f.look()
		if looks++; looks > 60 {
			f.t.Fatalf("status shows %+v of a crawler that says %s", s.Crawl, crawler.Said())
		}
		return s.Crawl != nil && s.Crawl.Free == 0
	})
	if list := s.Crawl.Crawlers; len(list) != 1 || !list[0].Alive || list[0].Partitions != s.Crawl.Partitions || list[0].State.Process == 0 {
		f.t.Errorf("with a crawler, status says %+v", s.Crawl)
	}
	if text := runIndexer(f.t, f.args("onlooker", "status")...); !strings.Contains(text, ": 256 of 256 partitions, for ") {
		f.t.Errorf("no partitions in:\n%s", text)
	}
	close(looked)
	crawler.ends()
	if s := f.look(); s.Crawl != nil {
		f.t.Errorf("after a crawl, status says %+v", s.Crawl)
	}
}

// TestStatusWithoutEtcd: while etcd does not answer, status shows what the store knows.
func TestStatusWithoutEtcd(t *testing.T) {
	args := []string{"--store", bigtabletest.URL(t), "--etcd", testenv.FreeAddress(t), "status"}
	text := runIndexer(t, args...)
	for _, want := range []string{"answers in ", "processes        unknown\n", "waiting          0 rows\n", "problems         nobody knows which processes are alive: etcd: ", "no etcd server answers"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	var s state
	if err := json.Unmarshal([]byte(runIndexer(t, append(args, "--format", "json")...)), &s); err != nil || !s.ProcessesUnknown || s.Processes == nil || len(s.Problems) != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}
