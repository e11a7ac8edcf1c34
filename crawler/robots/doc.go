// Package robots reads robots.txt files and decides by them, as RFC 9309 (the
// Robots Exclusion Protocol) says. It does no input or output and keeps no state:
// the crawler fetches, this package says what the answer means.
//
// There are two halves.
//
// Parse turns a file into a File, File.Group picks what concerns one crawler, and
// Group.Allowed decides on one URL and names the rule and its line. A Group is
// compiled once and may be used by many goroutines.
//
// Decide turns one fetch of a robots.txt (any status, or none) and what was known
// before into a Policy: obey these rules, allow all, disallow all, or follow this
// redirect; until when, and why in words.
//
// # Where the RFC leaves a choice
//
// Misspelt and incomplete lines. Section 2.2.4 lets crawlers accept common
// misspellings. Those known from the field (recordNames) and a missing colon are
// accepted: the owner's intention is plain, and ignoring "Disalow: /" is the
// mistake nobody forgives a crawler.
//
// User agents. A user-agent value counts up to the first character that is no
// letter, digit, hyphen or underscore, so that "FooBot/1.2" and "FooBot, BarBot"
// concern FooBot. Digits are not in the RFC's product tokens, but they are in the
// names of many crawlers: "MJ12bot" does not concern a crawler called MJ.
//
// Percent-encoding. Section 2.2.2 wants reserved characters encoded before the
// comparison, but not those that delimit; which these are it does not list. See
// canonical for the classes used here.
//
// Encodings. Files are UTF-8; a byte order mark is skipped, even an incomplete
// one. A file that begins with the mark of UTF-16 is decoded as such.
//
// What other crawlers do in contradiction to the RFC is off by default and can be
// had through Options; the two conformance suites need it for the cases listed in
// their tests.
package robots
