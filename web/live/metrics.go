package live

import (
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/webindexer/indexer/notify"
)

// descriptions lists all series.
var descriptions []*prometheus.Desc

// metric adds a series.
func metric(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc("indexer_"+name, help, labels, nil)
	descriptions = append(descriptions, d)
	return d
}

// The series, named by the conventions of Prometheus: base units, and _total for counters.
// docs/observability.md lists them, and docs/grafana has a dashboard.
var (
	observerRuns      = metric("observer_runs_total", "Committed runs of an observer.", "observer")
	observerRows      = metric("observer_rows_total", "Rows in committed runs of an observer.", "observer")
	observerRetries   = metric("observer_retries_total", "Rows returned for another run after a conflict or a failure.", "observer")
	observerConflicts = metric("observer_conflicts_total", "Runs of an observer that ended in a conflict.", "observer")
	observerFailures  = metric("observer_failures_total", "Runs of an observer that failed.", "observer")
	observerGaveUp    = metric("observer_gave_up_total", "Rows that an observer has given up on since the process started.", "observer")
	observerDead      = metric("observer_dead_letters", "Dead letters of an observer: rows it gave up on, neither retried nor discarded.", "observer")
	observerBacklog   = metric("observer_backlog_rows", "Rows that wait for an observer or are being processed.", "observer")
	observerRunning   = metric("observer_running_rows", "Rows that an observer is processing.", "observer")
	observerOldest    = metric("observer_oldest_wait_seconds", "Age of the oldest notification that waits for the observer.", "observer")
	observerTook      = metric("observer_run_duration_seconds", "Duration of committed runs, from beginning to commit.", "observer")
	observerWaited    = metric("observer_wait_duration_seconds", "Time from receiving a notification to the run, for the first row of each run.", "observer")

	pagesFound   = metric("fetch_to_searchable_seconds", "Time from the commit of a changed fetch until the page is searchable (Percolator paper, figure 7).")
	pagesWaiting = metric("pages_waiting", "Pages that were loaded and are not searchable yet.")

	unreadable = metric("documents_unreadable_total", "PDF and office documents that were interpreted and have no text that can be read.", "format")

	txnsBegun     = metric("transactions_begun_total", "Transactions begun.")
	txnsCommitted = metric("transactions_committed_total", "Transactions committed.")
	txnsConflicts = metric("transactions_conflicts_total", "Transactions that ended in a conflict.")
	txnsResolved  = metric("transactions_resolved_total", "Locks of other transactions that were rolled forward or back.", "direction")
	txnsLockWaits = metric("transactions_lock_waits_total", "Number of times that a reader waited for a lock.")
	txnsRunning   = metric("transactions_running", "Running transactions.")

	pipelineUp     = metric("pipeline_running", "1 while observers run, 0 while the pipeline is paused or stopped.")
	storeBytes     = metric("store_size_bytes", "Disk space used by the store.")
	indexBytes     = metric("index_size_bytes", "Disk space used by the index files.")
	freeBytes      = metric("disk_free_bytes", "Disk space available for writing.")
	collected      = metric("garbage_collected_records_total", "Records that garbage collection has removed in this process.", "kind")
	frontierURLs   = metric("frontier_urls", "URLs in the frontier: never fetched, or due for a revisit.", "state")
	frontierHosts  = metric("frontier_hosts", "Hosts with URLs in the frontier.")
	crawlPages     = metric("crawl_pages_total", "Pages fetched by the crawl in this process.")
	crawlPaused    = metric("crawl_paused", "1 while the crawl makes no requests, for example because the disk is nearly full.")
	statusReadable = metric("status_readable", "1 if the last reading of sizes, dead letters and frontier succeeded; if 0, they are missing or stale.")
)

// collector reads the source when it is scraped. It is a prometheus.Collector.
type collector struct{ monitor *monitor }

// metricsHandler serves the collector together with the usual metrics of the Go runtime
// and the process. It refuses all but a few concurrent scrapes.
func metricsHandler(m *monitor, r *prometheus.Registry) (http.Handler, error) {
	for _, c := range []prometheus.Collector{collector{m}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("web/live: metrics: %w", err)
		}
	}
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 2 * slowTime}), nil
}

// Describe sends the descriptions of all series.
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range descriptions {
		to <- d
	}
}

// Collect reads the source and sends all samples.
func (c collector) Collect(to chan<- prometheus.Metric) {
	s := sampler{to}
	v := c.monitor.refresh(slowAge)
	p := withWaiting(c.monitor.source.Sample(), v.waiting)
	for _, o := range p.Observers {
		s.observer(o)
	}
	s.histogram(pagesFound, p.Found)
	s.gauge(pagesWaiting, float64(p.Waiting))
	s.counter(unreadable, float64(p.Unreadable.PDF), "pdf")
	s.counter(unreadable, float64(p.Unreadable.Office), "office")
	t := p.Txns
	s.counter(txnsBegun, float64(t.Begun))
	s.counter(txnsCommitted, float64(t.Committed))
	s.counter(txnsConflicts, float64(t.Conflicts))
	s.counter(txnsResolved, float64(t.RolledForward), "forward")
	s.counter(txnsResolved, float64(t.RolledBack), "back")
	s.counter(txnsLockWaits, float64(t.LockWaits))
	s.gauge(txnsRunning, float64(t.Running))
	if !p.Elsewhere {
		s.gauge(pipelineUp, boolValue(p.NotReady == nil))
	}
	if v.dead != nil {
		for _, o := range p.Observers {
			s.gauge(observerDead, float64(v.dead[o.Observer]), o.Observer)
		}
	}
	s.slow(v)
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// sampler sends samples.
type sampler struct{ to chan<- prometheus.Metric }

// put sends a sample, or the error that the scrape then reports.
func (s sampler) put(d *prometheus.Desc, m prometheus.Metric, err error) {
	if err != nil {
		m = prometheus.NewInvalidMetric(d, err)
	}
	s.to <- m
}

func (s sampler) counter(d *prometheus.Desc, v float64, labels ...string) {
	m, err := prometheus.NewConstMetric(d, prometheus.CounterValue, v, labels...)
	s.put(d, m, err)
}

func (s sampler) gauge(d *prometheus.Desc, v float64, labels ...string) {
	m, err := prometheus.NewConstMetric(d, prometheus.GaugeValue, v, labels...)
	s.put(d, m, err)
}

func (s sampler) histogram(d *prometheus.Desc, h notify.Distribution, labels ...string) {
	buckets := make(map[float64]uint64)
	below := uint64(0)
	for i, bound := range h.Bounds() {
		below += uint64(h.Counts[i])
		buckets[bound.Seconds()] = below
	}
	m, err := prometheus.NewConstHistogram(d, uint64(h.N()), h.Sum.Seconds(), buckets, labels...)
	s.put(d, m, err)
}

func (s sampler) observer(o notify.Stats) {
	for _, c := range []struct {
		d *prometheus.Desc
		n int64
	}{
		{observerRuns, o.Runs}, {observerRows, o.Rows}, {observerRetries, o.Retries},
		{observerConflicts, o.Conflicts}, {observerFailures, o.Failures}, {observerGaveUp, o.Dead},
	} {
		s.counter(c.d, float64(c.n), o.Observer)
	}
	s.gauge(observerBacklog, float64(o.Backlog), o.Observer)
	s.gauge(observerRunning, float64(o.Running), o.Observer)
	s.gauge(observerOldest, o.OldestWait.Seconds(), o.Observer)
	s.histogram(observerTook, o.Took, o.Observer)
	s.histogram(observerWaited, o.Waited, o.Observer)
}

// slow samples the figures that cost a scan.
func (s sampler) slow(v slow) {
	s.gauge(statusReadable, boolValue(v.err == nil))
	if v.dead == nil { // nothing has been read yet
		return
	}
	s.gauge(storeBytes, float64(v.space.Store))
	s.gauge(indexBytes, float64(v.space.Index))
	if v.space.Free >= 0 {
		s.gauge(freeBytes, float64(v.space.Free))
	}
	c := v.space.Collected
	for kind, n := range map[string]int{
		"version": c.Versions, "deletion": c.Deletions, "rollback": c.Rollbacks, "lock": c.LockOnly + c.Reads, "acknowledgement": c.Acks,
	} {
		s.counter(collected, float64(n), kind)
	}
	if f := v.frontier; f != nil {
		s.gauge(frontierURLs, float64(f.New), "new")
		s.gauge(frontierURLs, float64(f.Revisits), "revisit")
		s.gauge(frontierHosts, float64(f.HostsTotal))
		s.gauge(crawlPaused, boolValue(f.Paused != ""))
		if f.Running {
			s.counter(crawlPages, float64(f.Pages))
		}
	}
}
