// Package web is what people and programs see of an index through HTTP: the search
// page, a page for each URL, stored copies, and a JSON API.
//
//	/                  search page and results, rendered here; scripts add keys only
//	/doc?url=          everything known of a URL
//	/view?url=         a stored copy in a frame, under its date
//	/copy?url=         the copy itself, which may do nothing (copy.go)
//	/api/…             the answers of the command line, as JSON (api.go)
//
// # What holds for every answer
//
// The pages come from strangers, and so may requests. Numbered invariants:
//
//  1. Text from the web is text: html/template escapes it, clean.go takes out what
//     could turn the direction of writing, and a link is only made of a page.URL,
//     which is http or https.
//  2. Nothing runs that is not in the program. The content security policy allows
//     scripts and styles from /assets only; no page has any inline.
//  3. A stored page never gets the origin of this server: it is served in a sandbox
//     of its own, without scripts, forms, links or anything loaded (copy.go).
//  4. No page of another site gets an answer by way of a visitor's browser: the
//     Host of a request is checked (against DNS rebinding), nothing may be framed or
//     read across origins, and no request changes anything.
//  5. Beyond loopback nothing is served without credentials (listen.go, auth.go).
//  6. Everything is bounded: the length of a request, its time, how many run at once,
//     how much of a page is shown. A handler that fails answers 500 and no details.
package web
