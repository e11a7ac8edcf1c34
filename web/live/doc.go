// Package live shows the running pipeline: a status page that updates itself, Prometheus
// metrics with the same figures, health checks, and optional profiles.
//
//	/status            page: the observers as a pipeline, the freshness of the index
//	                   (figure 7 of the paper, live), the frontier by host, disk space
//	/status/events     the same as server-sent events
//	/metrics           Prometheus text format
//	/healthz, /readyz  the process is alive; the pipeline runs
//	/debug/pprof/      profiles, only with Options.Profiles
//
// Mount it in a web.Server, which adds security headers and credentials, or use it
// alone. Invariants:
//
//  1. One goroutine takes a sample once a second, however many clients there are, and
//     encodes it once for all of them. Close ends the goroutine and all clients, and
//     waits for them.
//  2. Everything is bounded: the points by age, the clients by number, each write to a
//     client by time. A slow client misses nothing: its next update holds all points
//     since the last one it got.
//  3. Figures that cost a scan (frontier, dead letters, disk usage) are read only for
//     clients, page views and scrapes, and take at most a twentieth of the time.
//  4. Without scripts, the page shows the state at the time of the request. The functions of
//     this package make all text; the script only puts it in place.
//  5. The only content from the web is host names, as text.
//  6. The number of series is bounded: labels are observers and a few fixed words, never
//     hosts or URLs.
package live
