package page

import (
	"crypto/sha256"
	"slices"
	"strings"
	"sync"
)

// Interpreter interprets fetches as [Interpret] does, and remembers what recent bodies say. A
// site serves many pages under several URLs; one in eight pages of recorded crawls has a body
// that came before. Such a page costs the resolution of its references, and not its parsing.
//
// It is safe for concurrent use. The zero value remembers nothing.
type Interpreter struct {
	mu sync.Mutex
	// most bounds the bytes of each of the two generations. When now is full, it becomes
	// before, and what before had is forgotten.
	most        int
	size        int // bytes of now
	now, before map[bodyID]*content
}

// bodyID identifies a body and everything else that content depends on.
type bodyID struct {
	sum         [sha256.Size]byte
	contentType string
}

// NewInterpreter returns an Interpreter that caches up to the given bytes of content.
func NewInterpreter(most int) *Interpreter {
	return &Interpreter{most: most / 2, now: map[bodyID]*content{}}
}

// Interpret returns what a fetch means. sum is the SHA-256 of its body, and read reads the
// body. Interpret calls read only if it does not remember what the body says. The bytes that
// read gives to use need only be valid until use returns.
func (in *Interpreter) Interpret(f *Fetch, sum [sha256.Size]byte, read func(use func(body []byte)) error) (doc Document, err error) {
	id, possible := identify(f, sum)
	if possible {
		if c := in.recall(id); c != nil {
			return c.document(f), nil
		}
	}
	err = read(func(body []byte) {
		f.Body = body
		defer func() { f.Body = nil }()
		if !possible {
			doc = Interpret(f)
			return
		}
		k := bodyKind(f)
		x := extractors.Get().(*extractor)
		defer x.release()
		c := x.read(k, id.contentType, decode(body, id.contentType, k), body)
		if len(body) > 0 { // it may be missing, and then the digest is not its own
			in.remember(id, &c)
		}
		doc = c.document(f)
	})
	return doc, err
}

// identify returns what the content of a fetch depends on. It is not possible for fetches
// that are not pages, or whose kind only the body tells.
func identify(f *Fetch, sum [sha256.Size]byte) (id bodyID, possible bool) {
	id = bodyID{sum, f.Header.Get("Content-Type")}
	if !f.mayBePage() || !strings.Contains(essence(id.contentType), "/") {
		return id, false
	}
	k := bodyKind(f)
	return id, k == kindHTML || k == kindText
}

// recall returns what a body says, nil if that is not remembered.
func (in *Interpreter) recall(id bodyID) *content {
	in.mu.Lock()
	defer in.mu.Unlock()
	c := in.now[id]
	if c == nil {
		if c = in.before[id]; c == nil {
			return nil
		}
		in.add(id, c)
	}
	return c.clone()
}

// remember keeps what a body says, unless it would take more than a part of the room.
func (in *Interpreter) remember(id bodyID, c *content) {
	if c.bytes() > in.most/8 {
		return
	}
	c = c.clone()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.add(id, c)
}

func (in *Interpreter) add(id bodyID, c *content) {
	n := c.bytes() + len(id.contentType)
	if in.size+n > in.most {
		in.before, in.now, in.size = in.now, map[bodyID]*content{}, 0
	}
	in.now[id] = c
	in.size += n
}

// clone returns a copy with links of its own.
func (c *content) clone() *content {
	own := *c
	own.links = slices.Clone(c.links)
	return &own
}

// contentBytes is about what a content takes besides its texts and lists, and the parts of
// the lists besides their strings.
const (
	contentBytes = 512
	elementBytes = 40
)

// bytes is about how much memory a content takes.
func (c *content) bytes() int {
	n := contentBytes + len(c.title) + len(c.text) + elementBytes*(len(c.main)+len(c.sections)+len(c.alternates)+len(c.canonicals)+len(c.links)+len(c.frames))
	for i := range c.links {
		n += len(c.links[i].ref) + len(c.links[i].anchor)
	}
	for i := range c.sections {
		n += len(c.sections[i].ID)
	}
	for i := range c.alternates {
		n += len(c.alternates[i].ref) + len(c.alternates[i].language)
	}
	for _, list := range [][]string{c.canonicals, c.frames} {
		for _, s := range list {
			n += len(s)
		}
	}
	return n + len(c.baseRef) + len(c.refresh)
}
