// Package live shows the pipeline at work: a status page that moves, Prometheus
// metrics with the same figures, health checks, and profiles where they are wanted.
//
//	/status            page: observers drawn as the pipeline, how fresh the index is
//	                   (the paper's Figure 7, live), frontier by host, disk
//	/status/events     the same as server-sent events
//	/metrics           Prometheus text format
//	/healthz, /readyz  the process is alive; the pipeline runs
//	/debug/pprof/      profiles, only with Options.Profiles
//
// It is mounted in a web.Server, which adds security headers and credentials, or used
// alone. Numbered invariants:
//
//  1. One goroutine takes the pulse, once a second, whether one client looks or thirty:
//     clients get bytes that were made once. Close ends it and every client, and waits.
//  2. Everything is bounded: points by time, clients by number, each write to a client
//     by time. A client that is slow misses nothing it could have drawn: it is sent all
//     points after the last one it got.
//  3. What costs a scan (frontier, dead letters, sizes on the disk) is read while
//     somebody looks, and never more than a twentieth of the time.
//  4. The page without scripts shows what the page with scripts shows first: all text is
//     made here, by the same functions, and a script only puts it in place.
//  5. Nothing from the web is in any of it but host names, as text.
//  6. The number of series is bounded: labels are observers and a few words, never
//     hosts or URLs.
package live
