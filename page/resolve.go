package page

import (
	"errors"
	"fmt"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// Resolver resolves the references of one page against its base URL. It keeps the parsed
// base, because a page has hundreds of links. It is not safe for concurrent use.
type Resolver struct {
	base   URL
	site   string      // scheme://host[:port]; "" rules out the fast path
	dir    string      // path up to and including its last slash
	parsed *whatwg.Url // parsed base, made when it is first needed
}

// NewResolver returns a Resolver for a base in canonical form. For the zero URL it
// resolves absolute references only.
func NewResolver(base URL) *Resolver {
	r := &Resolver{base: base}
	if isCanonical(string(base)) {
		path := base.Path()
		r.site = base.Site()
		r.dir = path[:strings.LastIndexByte(path, '/')+1]
	}
	return r
}

// Resolve returns the canonical URL that ref names. The error wraps ErrNotHTTP if that is
// not an http or https URL.
func (r *Resolver) Resolve(ref string) (URL, error) {
	if u, ok := r.resolveFast(ref); ok {
		return u, nil
	}
	return r.resolveSlow(ref)
}

// resolveFast handles absolute URLs, absolute paths and relative paths that consist of
// plain bytes. Everything else is left to the parser.
func (r *Resolver) resolveFast(ref string) (URL, bool) {
	if i := strings.IndexByte(ref, '#'); i >= 0 && isPlainFragment(ref[i+1:]) {
		ref = ref[:i]
		if ref == "" && r.site != "" {
			return r.base, true
		}
	}
	if isCanonical(ref) {
		return URL(ref), true
	}
	if r.site == "" || ref == "" || len(r.base)+len(ref) > MaxURLLength {
		return "", false
	}
	if ref[0] == '/' {
		if len(ref) > 1 && ref[1] == '/' || !isPlainTail(ref) {
			return "", false
		}
		return URL(r.site + ref), true
	}
	return r.resolveRelative(ref)
}

// resolveRelative resolves a path that begins with neither a slash nor a scheme.
// It follows leading ".." segments and leaves later ones to the parser.
func (r *Resolver) resolveRelative(ref string) (URL, bool) {
	dir := r.dir
	for strings.HasPrefix(ref, "../") && len(dir) > 1 && len(ref) > 3 {
		ref = ref[3:]
		dir = dir[:strings.LastIndexByte(dir[:len(dir)-1], '/')+1]
	}
	if ref[0] == '?' || ref[0] == '/' {
		return "", false
	}
	for i := 0; i < len(ref) && ref[i] != '/' && ref[i] != '?'; i++ {
		if ref[i] == ':' { // perhaps a scheme
			return "", false
		}
	}
	// The slash stands for the end of dir, so that isPlainTail detects a leading dot segment.
	if tail := "/" + ref; !isPlainTail(tail) {
		return "", false
	}
	return URL(r.site + dir + ref), true
}

func (r *Resolver) resolveSlow(ref string) (URL, error) {
	if len(ref) > MaxURLLength {
		return "", fmt.Errorf("resolve %q on %s: %w (limit %d bytes)", abbreviate(ref), r.base, ErrURLTooLong, MaxURLLength)
	}
	if r.base == "" {
		return ParseURL(ref)
	}
	if r.parsed == nil {
		base, err := parser.Parse(string(r.base))
		if err != nil {
			return "", fmt.Errorf("resolve %q: base %s: %w", abbreviate(ref), r.base, err)
		}
		r.parsed = base
	}
	// The parser copies the base and does not change it.
	u, err := parser.BasicParser(ref, r.parsed, nil, whatwg.NoState)
	if err != nil {
		return "", fmt.Errorf("resolve %q on %s: %w", abbreviate(ref), r.base, err)
	}
	if u == nil {
		return "", fmt.Errorf("resolve %q on %s: %w", abbreviate(ref), r.base, errNoURL)
	}
	return normalise(u)
}

var errNoURL = errors.New("the reference does not name a URL")

// isPlainFragment reports whether a fragment can be cut off without parsing the rest of
// the reference: it holds nothing that the parser would refuse or strip.
func isPlainFragment(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
