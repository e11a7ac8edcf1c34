package live_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/webindexer/indexer/notify"
	"github.com/webindexer/indexer/web/live"
)

func get(t testing.TB, server *httptest.Server, path string, status int) string {
	t.Helper()
	resp, err := server.Client().Get(server.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != status {
		t.Fatalf("%s: status %d, want %d: %s", path, resp.StatusCode, status, b)
	}
	return string(b)
}

func families(t testing.TB, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	f, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func frontierOfTest() *live.Frontier {
	return &live.Frontier{New: 12, Revisits: 3, HostsTotal: 2, Running: true, Pages: 7, Hosts: []live.Host{{Host: "a.example", New: 12}}}
}

// The metrics parse as Prometheus text, follow its conventions, and agree with the
// pipeline's own figures. No label holds a host or URL.
func TestMetrics(t *testing.T) {
	r := openRepository(t)
	_, server := watch(t, watched{r, frontierOfTest()}, live.Options{})
	load(t, r, 0, 20)
	if err := r.Quiesce(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := get(t, server, "/metrics", http.StatusOK)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	f := families(t, text)
	for _, o := range r.Sample().Observers {
		for name, want := range map[string]float64{
			"runs_total": float64(o.Runs), "rows_total": float64(o.Rows), "backlog_rows": 0, "dead_letters": 0, "conflicts_total": float64(o.Conflicts), "retries_total": float64(o.Retries),
		} {
			if got := valueOf(f["indexer_observer_"+name], "observer", o.Observer); got != want {
				t.Errorf("%s of %s is %v, want %v", name, o.Observer, got, want)
			}
		}
		h := seriesOf(f["indexer_observer_run_duration_seconds"], "observer", o.Observer).GetHistogram()
		if int64(h.GetSampleCount()) != o.Runs || len(h.GetBucket()) != 23 {
			t.Errorf("%s: %d runs in %d buckets", o.Observer, h.GetSampleCount(), len(h.GetBucket()))
		}
	}
	if n := seriesOf(f["indexer_fetch_to_searchable_seconds"], "", "").GetHistogram().GetSampleCount(); n != 20 {
		t.Errorf("%d pages found, want 20", n)
	}
	for name, want := range map[string]float64{"indexer_pipeline_running": 1, "indexer_frontier_hosts": 2, "indexer_crawl_pages_total": 7, "indexer_crawl_paused": 0, "indexer_status_readable": 1, "indexer_pages_waiting": 0} {
		if got := valueOf(f[name], "", ""); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if valueOf(f["indexer_store_size_bytes"], "", "") <= 0 || valueOf(f["indexer_frontier_urls"], "state", "new") != 12 {
		t.Error("no size of the store, or no frontier")
	}
	if strings.Contains(text, "a.example") {
		t.Error("a host is in a label")
	}
}

func seriesOf(f *dto.MetricFamily, label, value string) *dto.Metric {
	for _, m := range f.GetMetric() {
		if label == "" {
			return m
		}
		for _, l := range m.GetLabel() {
			if l.GetName() == label && l.GetValue() == value {
				return m
			}
		}
	}
	return nil
}

func valueOf(f *dto.MetricFamily, label, value string) float64 {
	switch m := seriesOf(f, label, value); {
	case m == nil:
		return -1
	case m.Counter != nil:
		return m.GetCounter().GetValue()
	default:
		return m.GetGauge().GetValue()
	}
}

var metricName = regexp.MustCompile(`\b(indexer|go|process)_[a-z0-9_]+`)

// Every query of the dashboard uses series and labels that are served, and every series of
// ours is documented.
func TestDashboardAndDocuments(t *testing.T) {
	r := openRepository(t)
	_, server := watch(t, watched{r, frontierOfTest()}, live.Options{})
	f := families(t, get(t, server, "/metrics", http.StatusOK))
	served := make(map[string]bool)
	for name, family := range f {
		served[name] = true
		if family.GetType() == dto.MetricType_HISTOGRAM {
			served[name+"_bucket"], served[name+"_sum"], served[name+"_count"] = true, true, true
		}
	}
	b, err := os.ReadFile(filepath.FromSlash("../../docs/grafana/indexer.json"))
	if err != nil {
		t.Fatal(err)
	}
	queries := exprs(t, b)
	if len(queries) < 12 {
		t.Errorf("the dashboard has %d queries", len(queries))
	}
	for _, q := range queries {
		names := metricName.FindAllString(q, -1)
		if len(names) == 0 {
			t.Errorf("no series in %q", q)
		}
		for _, n := range names {
			if !served[n] {
				t.Errorf("%q names %s, which is not served", q, n)
			}
		}
		for _, by := range regexp.MustCompile(`by \(([^)]*)\)`).FindAllStringSubmatch(q, -1) {
			for _, label := range strings.Split(by[1], ",") {
				if label = strings.TrimSpace(label); !slices.Contains([]string{"observer", "le", "state", "kind"}, label) {
					t.Errorf("%q groups by the unknown label %q", q, label)
				}
			}
		}
	}
	docs, err := os.ReadFile(filepath.FromSlash("../../docs/observability.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range f {
		if strings.HasPrefix(name, "indexer_") && !bytes.Contains(docs, []byte("`"+name+"`")) {
			t.Errorf("docs/observability.md does not name %s", name)
		}
	}
	lines := bufio.NewScanner(bytes.NewReader(docs))
	for lines.Scan() {
		for _, n := range regexp.MustCompile("`indexer_[a-z_]+`").FindAllString(lines.Text(), -1) {
			if !served[strings.Trim(n, "`")] {
				t.Errorf("docs/observability.md names %s, which is not served", n)
			}
		}
	}
}

// exprs returns all queries in the JSON of a dashboard.
func exprs(t *testing.T, b []byte) (list []string) {
	t.Helper()
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, child := range v {
				if s, ok := child.(string); ok && k == "expr" {
					list = append(list, s)
				}
				walk(child)
			}
		case []any:
			for _, child := range v {
				walk(child)
			}
		}
	}
	walk(v)
	return list
}

// A process whose pipeline has stopped or is paused is healthy but not ready.
func TestHealth(t *testing.T) {
	for _, c := range []struct {
		name     string
		notReady error
		status   int
		says     string
	}{
		{"running", nil, http.StatusOK, "ready\n"},
		{"paused", notify.ErrPaused, http.StatusServiceUnavailable, "the pipeline is paused\n"},
		{"stopped", notify.ErrStopped, http.StatusServiceUnavailable, "the pipeline has stopped\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, server := watch(t, broken{c.notReady}, live.Options{})
			if got := get(t, server, "/readyz", c.status); got != c.says {
				t.Errorf("ready: %q, want %q", got, c.says)
			}
			if got := get(t, server, "/healthz", http.StatusOK); got != "ok\n" {
				t.Errorf("health: %q", got)
			}
			l.Close()
			get(t, server, "/readyz", http.StatusServiceUnavailable)
		})
	}
}

// Profiles are served only with the option, and never the command line.
func TestProfiles(t *testing.T) {
	_, without := watch(t, broken{}, live.Options{})
	get(t, without, "/debug/pprof/", http.StatusNotFound)
	get(t, without, "/debug/pprof/heap", http.StatusNotFound)
	_, with := watch(t, broken{}, live.Options{Profiles: true})
	if !strings.Contains(get(t, with, "/debug/pprof/goroutine?debug=1", http.StatusOK), "goroutine profile") {
		t.Error("no profile of goroutines")
	}
	get(t, with, "/debug/pprof/cmdline", http.StatusNotFound)
}
