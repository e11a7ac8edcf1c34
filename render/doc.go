// Package render shows pages as a browser does: it runs the scripts of a page in Chromium,
// and returns the document that they leave, with a screenshot and the URLs that the page
// asked for (docs/semantics.md, "Rendering").
//
// # What a rendering depends on
//
// The result is a function of the fetch of the page and of what the caller's lookup returns.
// So everything else that a page can see is fixed or taken away:
//
//   - Network: none. Each request is paused (CDP domain Fetch) and answered from lookup, one
//     after the other, in the order in which the browser makes them. A request that lookup
//     does not know fails, as it would without a connection. The process itself has no network
//     access either: its proxy is a name that does not exist, and no name resolves.
//   - Time: virtual, from a fixed date on. It stands still while a request waits for its
//     answer, and otherwise jumps from timer to timer, until Limits.VirtualTime is used up.
//   - Randomness: Math.random and crypto begin with the same seed in each document (prelude.js).
//   - Frames of the screen: requestAnimationFrame is a timer, and observers of intersections
//     and sizes are told once that everything is in view.
//   - Viewport, language, time zone, and colour scheme.
//
// Workers, WebRTC, WebSocket and similar interfaces are removed, because they run in real
// time or leave the page. Requests other than GET fail, and so do navigations, downloads and
// windows.
//
// # Failures
//
// Render distinguishes pages that cannot be rendered from a browser that fails. A page that
// exceeds a limit or crashes its renderer process gives a [Result] with Failure: the same page
// would fail again. A browser that dies or does not start is an error: the caller tries again.
//
// # Security
//
// The pages come from strangers. The browser runs with its sandbox, except as root, for whom
// Chromium has none. Its profile is in a temporary directory. A page that hangs is crashed
// from outside (Page.crash runs in a thread that the page cannot block); if that does not
// help, the whole browser is killed. CORS is off, since the stored fetches lack its headers:
// that gives a page no more than what lookup gives it anyway.
package render
