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
	copied *int        // bytes that the parser copied for paths of very many segments and URLs that were too long
}

// For each segment of a path, the parser copies all segments before it: 16 MB for a URL with 4,000
// segments. A page with such a base takes minutes for some hundred links. So the parser may copy
// mostCopied bytes for the references of a page whose paths have more than manySegments. URLs that are too long count,
// too, because no other limit ends the work for a million of them.
const (
	manySegments = 64
	mostCopied   = 512 << 20
)

var errMuchCopied = errors.New("too many URLs before it are too long or have paths of very many segments")

// copies takes note of a reference that is left to the parser.
func (r *Resolver) copies(ref string) error {
	segments := strings.Count(string(r.base), "/") + strings.Count(ref, "/") + strings.Count(ref, "\\")
	if segments > manySegments {
		*r.copied += segments * (len(r.base) + len(ref)) / 2
	}
	if *r.copied > mostCopied {
		return errMuchCopied
	}
	return nil
}

// NewResolver returns a Resolver for a base in canonical form. For the zero URL it
// resolves absolute references only.
func NewResolver(base URL) *Resolver {
	r := &Resolver{base: base, copied: new(int)}
	if isCanonical(string(base)) {
		path := base.Path()
		r.site = base.Site()
		r.dir = path[:strings.LastIndexByte(path, '/')+1]
	}
	return r
}

// Rebase returns a Resolver for another base of the same page or file. Both count towards the limit of bytes that
// the parser copies.
func (r *Resolver) Rebase(base URL) *Resolver {
	other := NewResolver(base)
	other.copied = r.copied
	return other
}

// Resolve returns the canonical URL that ref names. The error wraps ErrNotHTTP if that is
// not an http or https URL.
func (r *Resolver) Resolve(ref string) (URL, error) {
	if u, ok := r.resolveFast(ref); ok {
		return u, nil
	}
	return r.resolveSlow(ref)
}

// resolveFast handles absolute URLs, absolute paths, relative paths and queries that consist of
// plain bytes. Everything else is left to the parser.
func (r *Resolver) resolveFast(ref string) (URL, bool) {
	ref, _, _ = strings.Cut(ref, "#")
	if isCanonical(ref) {
		return URL(ref), true
	}
	if host, ok := cutHTTP(ref); ok && isPlainHost(host) {
		return URL(ref + "/"), true
	}
	switch {
	case r.site == "" || len(r.base)+len(ref) > MaxURLLength:
		return "", false
	case ref == "":
		return r.base, true
	case strings.HasPrefix(ref, "//"):
		u := r.base.Scheme() + ":" + ref
		return URL(u), isCanonical(u)
	case ref[0] == '?':
		path, _, _ := strings.Cut(string(r.base), "?")
		return URL(path + ref), len(ref) > 1 && isPlainQuery(ref[1:])
	case ref[0] != '/':
		return r.resolveRelative(ref)
	case isPlainTail(ref):
		return URL(r.site + ref), true
	}
	return "", false
}

// resolveRelative resolves a path that begins with neither a slash nor a scheme.
// It follows leading "." and ".." segments and leaves later ones to the parser.
func (r *Resolver) resolveRelative(ref string) (URL, bool) {
	if hasColon(ref) {
		return "", false
	}
	dir := r.dir
	for ref != "" && ref[0] == '.' {
		segment, rest, _ := strings.Cut(ref, "/")
		if segment == ".." {
			dir = dir[:strings.LastIndexByte(dir[:max(len(dir)-1, 1)], '/')+1]
		} else if segment != "." {
			break
		}
		ref = rest
	}
	if ref == "" {
		return URL(r.site + dir), true
	}
	// The slash represents the end of dir, so that isPlainTail detects another dot segment.
	u := r.site + dir + ref
	return URL(u), ref[0] != '/' && isPlainTail(u[len(r.site)+len(dir)-1:])
}

// hasColon reports whether the first segment of a relative reference has a colon, before
// which may be a scheme.
func hasColon(ref string) bool {
	for i := 0; i < len(ref) && ref[i] != '/' && ref[i] != '?'; i++ {
		if ref[i] == ':' {
			return true
		}
	}
	return false
}

func (r *Resolver) resolveSlow(ref string) (URL, error) {
	u, err := r.parse(ref)
	if err != nil {
		return "", err
	}
	target, err := normalise(u)
	if errors.Is(err, ErrURLTooLong) {
		*r.copied += MaxURLLength
	}
	return target, err
}

// parse returns what ref names before normalisation.
func (r *Resolver) parse(ref string) (*whatwg.Url, error) {
	if len(ref) > MaxURLLength {
		return nil, fmt.Errorf("resolve %q on %s: %w (limit %d bytes)", abbreviate(ref), r.base, ErrURLTooLong, MaxURLLength)
	}
	if err := r.copies(ref); err != nil {
		return nil, fmt.Errorf("resolve %q on %s: %w", abbreviate(ref), abbreviate(string(r.base)), err)
	}
	if r.base != "" && r.parsed == nil {
		base, err := parser.Parse(string(r.base))
		if err != nil {
			return nil, fmt.Errorf("resolve %q: base %s: %w", abbreviate(ref), r.base, err)
		}
		r.parsed = base
	}
	// The parser copies the base and does not change it.
	u, err := parser.BasicParser(ref, r.parsed, nil, whatwg.NoState)
	if err == nil && u == nil {
		err = errNoURL
	}
	switch {
	case err == nil:
		return u, nil
	case r.base == "":
		return nil, fmt.Errorf("parse URL %q: %w", abbreviate(ref), err)
	}
	return nil, fmt.Errorf("resolve %q on %s: %w", abbreviate(ref), r.base, err)
}

// against returns a Resolver for the base that ref names. References are resolved against a base as it is
// written, and normalised afterwards: in "/%%32%65/x", the "%2e" that appears is not yet a dot segment.
func (r *Resolver) against(ref string) (*Resolver, error) {
	u, err := r.parse(ref)
	if err != nil {
		return nil, err
	}
	written := u.Href(true)
	base, err := normalise(u)
	if err != nil {
		return nil, err
	}
	other := NewResolver(base)
	if written != string(base) {
		other.site, other.parsed = "", u // The fast path would take the normalised base.
	}
	return other, nil
}

var errNoURL = errors.New("the reference does not name a URL")
