package seeds

import (
	"errors"
	"net/netip"
	"strings"

	"github.com/webindexer/indexer/page"
)

// parseBare parses a host without scheme, with or without port and path.
func parseBare(text string) (Seed, *LineError) {
	raw := strings.TrimPrefix(text, "//")
	if instead := cutSecondScheme(raw); instead != "" {
		return Seed{}, reject(text, "lacks a colon", instead)
	}
	host := raw
	if i := strings.IndexAny(raw, `/\?#`); i >= 0 {
		host = raw[:i]
	}
	if _, domain, found := strings.Cut(host, "@"); found {
		return Seed{}, reject(text, "is a mail address, or has a user name in it", domain)
	}
	u, rejected := parseURL(text, "https://"+raw)
	if rejected != nil {
		return Seed{}, rejected
	}
	if rejected := checkBareHost(text, host, u); rejected != nil {
		return Seed{}, rejected
	}
	return Seed{URL: u, Bare: true}, nil
}

// checkBareHost rejects words and numbers, which the URL standard accepts as hosts.
func checkBareHost(text, host string, u page.URL) *LineError {
	if strings.HasPrefix(host, "[") {
		return nil
	}
	name, _, hasPort := strings.Cut(host, ":")
	name = strings.TrimSuffix(name, ".")
	if addr, err := netip.ParseAddr(u.Host()); err == nil && addr.String() != name {
		return reject(text, "is a number, or short for the address "+u.Host(), string(u)+" if that is meant")
	}
	if !strings.ContainsAny(u.Host(), ".") && !hasPort && u.Host() != "localhost" {
		return reject(text, "is a word, not the name of a site", string(u)+" if a host has that name")
	}
	return nil
}

// checkHost rejects hosts that the URL standard accepts and no name server knows, and
// user information, which must not get into an index.
func checkHost(text string, u page.URL) *LineError {
	host := u.Host()
	switch {
	case strings.Contains(host, "*"):
		return reject(text, "has a wildcard in its host", "the domain alone, and --scope domain for all its hosts")
	case strings.HasPrefix(host, "["):
	case !isHostName(host):
		return reject(text, "names no host: "+abbreviate(host), "")
	}
	rest := strings.TrimPrefix(string(u), u.Scheme()+"://")
	authority, _, _ := strings.Cut(rest, "/")
	if strings.Contains(authority, "@") {
		without := u.Site() + rest[len(authority):]
		// Do not repeat the line: the message goes to terminals and logs.
		return reject(without, "is given with a user name or password, which would be in the index for all to see", without)
	}
	return nil
}

// isHostName checks a canonical host against the limits of RFC 1035 and the letters of
// RFC 952, plus the underscore, which some hosts have.
func isHostName(host string) bool {
	if len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// shorten returns the cause of an error without the URL, which the message has already.
func shorten(err error) string {
	if errors.Is(err, page.ErrURLTooLong) {
		return page.ErrURLTooLong.Error()
	}
	for cause := errors.Unwrap(err); cause != nil; cause = errors.Unwrap(err) {
		err = cause
	}
	s := strings.TrimPrefix(err.Error(), "Error: ")
	if i := strings.Index(s, ". Url: "); i >= 0 {
		s = s[:i]
	}
	return abbreviate(s)
}
