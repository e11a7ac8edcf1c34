// Package sites reads small webs with a history from a text format that people can
// read and write, and packs them into WARC files. They are the project's test
// data and its demonstration (testdata/sites).
//
// A file holds one web: a comment that says what the web is for, and then its
// fetches in order of arrival, which need not be the order of their times. The format
// resembles txtar, with fetches instead of files:
//
//	A museum moves to https. The http page must join the https page's cluster.
//
//	-- 2024-03-01 http://museum.example/ --
//	<title>Museum</title>
//	<p>The lamp was lit in 1871 and has not been out since, but for two nights.
//
//	-- 2024-03-02T08:30:00Z http://museum.example/ 301 https://museum.example/ --
//
//	-- 2024-03-02T08:30:01Z https://museum.example/ --
//	X-Robots-Tag: nofollow
//	@like: http://museum.example/
//
// A fetch begins with a line
//
//	-- TIME URL --
//	-- TIME URL STATUS --
//	-- TIME URL STATUS LOCATION --
//	-- TIME URL revisit --
//	-- TIME URL failed --
//
// TIME is 2006-01-02 or 2006-01-02T15:04:05Z, with a fraction of up to nine digits;
// STATUS is 200 by default; LOCATION goes into the Location field unchanged. A revisit
// has no payload because nothing had changed; failed is a connection without an answer.
//
// Header fields follow, up to an empty line, which is dropped, or a line that begins with
// "<", which is the first line of the body. Among the fields, a line that begins with # is
// a comment, and a line that begins with @ says how to make the body:
//
//	@charset: koi8-r        written here in UTF-8, sent in this character set
//	@bom: yes               with a byte order mark before it
//	@coding: gzip           sent with this content coding (gzip, deflate, br, zstd)
//	@cut: 40                only this many bytes of the response
//	@base64: yes            written here in base64
//	@like: URL              body and header of the latest fetch of URL above; fields
//	                        given here are added or replace those
//
// A response with a body and no Content-Type field gets text/html with its
// character set; "Content-Type: -" means no type.
//
// The body extends to the next fetch, without empty lines at its end. It ends with one
// newline, or is empty.
package sites
