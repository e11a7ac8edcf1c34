package document

import (
	"context"
	"slices"

	"github.com/webindexer/indexer/page"
)

// LinkList is a list of a page's links that is stored in parts.
type LinkList interface {
	// Parts returns how many parts the list has.
	Parts() int
	// Part reads a part.
	Part(ctx context.Context, i int) (LinkPart, error)
}

// LinkPart is a part of a list, in the order of targets. A target whose anchors do not
// fit into one entry has several consecutive entries, which may be in different parts.
type LinkPart interface {
	Len() int
	// Entry returns a target with anchors in ascending order.
	Entry(i int) (target page.URL, anchors []string)
}

// ListPlace is an entry of a list.
type ListPlace struct{ Part, Index int }

// Bound bounds a call of [Diff]: it stops once the changed targets have this many links
// or bytes.
type Bound struct {
	Entries, Bytes int
	// TargetBytes is how many bytes each target takes in addition to its URL and
	// anchors.
	TargetBytes int
}

// Diff looks at up to lookAhead times as many targets as it may change.
const lookAhead = 16

// Diff compares the rests of two lists of links, from where their readers are. It calls
// change for each target whose anchors differ, with its anchors in the old list and in the
// new one, as they are cut into entries; nil means that a list does not have the target.
// If Diff reaches the bound, it stops between two targets and reports that there is more.
// Then the places of the lists say where to continue.
func Diff(ctx context.Context, old, now *ListReader, bound *Bound, change func(target page.URL, old, now [][]string)) (all bool, err error) {
	looked, entries, size := 0, 0, 0
	for {
		isOld, err := old.peek(ctx)
		if err != nil {
			return false, err
		}
		isNow, err := now.peek(ctx)
		if err != nil || !isOld && !isNow {
			return err == nil, err
		}
		if looked++; bound != nil && (entries >= bound.Entries || size >= bound.Bytes || looked > lookAhead*bound.Entries) {
			return false, nil
		}
		r := now
		if !isNow || isOld && old.target < now.target {
			r = old
		}
		target := r.target
		var before, after [][]string
		if isOld && old.target == target {
			before = old.anchors
		}
		if isNow && now.target == target {
			after = now.anchors
		}
		if !slices.EqualFunc(before, after, slices.Equal) {
			change(target, before, after)
			n, b := r.size()
			entries, size = entries+n, size+b
			if bound != nil {
				size += bound.TargetBytes
			}
		}
		if before != nil {
			old.skip()
		}
		if after != nil {
			now.skip()
		}
	}
}

// ListReader reads a list target by target. It holds one part in memory, or two.
type ListReader struct {
	list   LinkList
	at     ListPlace // of the first entry that has not been read
	part   LinkPart  // the part numbered loaded
	loaded int       // -1: none

	// What peek has read: a target, its anchors as they are cut, and the place after it.
	target  page.URL
	anchors [][]string
	behind  ListPlace
}

// ReadList reads a list from a place on.
func ReadList(list LinkList, at ListPlace) *ListReader {
	return &ListReader{list: list, at: at, loaded: -1}
}

// Place returns where the reader is.
func (r *ListReader) Place() ListPlace { return r.at }

// peek reads the next target. It returns false at the end.
func (r *ListReader) peek(ctx context.Context) (bool, error) {
	if r.anchors != nil {
		return true, nil
	}
	r.behind = r.at
	for {
		ok, err := r.load(ctx)
		if err != nil {
			return false, err
		}
		if !ok {
			return r.anchors != nil, nil
		}
		target, anchors := r.part.Entry(r.behind.Index)
		if r.anchors != nil && target != r.target {
			return true, nil
		}
		r.target, r.anchors = target, append(r.anchors, anchors)
		r.behind.Index++
	}
}

// load loads the part with the entry after what peek has read. It returns false at the end.
func (r *ListReader) load(ctx context.Context) (bool, error) {
	for r.behind.Part < r.list.Parts() {
		if r.loaded != r.behind.Part {
			var err error
			if r.part, err = r.list.Part(ctx, r.behind.Part); err != nil {
				return false, err
			}
			r.loaded = r.behind.Part
		}
		if r.behind.Index < r.part.Len() {
			return true, nil
		}
		r.behind = ListPlace{Part: r.behind.Part + 1}
	}
	return false, nil
}

// skip moves past the entry that peek returned.
func (r *ListReader) skip() { r.at, r.anchors = r.behind, nil }

// size returns the links and bytes of what peek has read.
func (r *ListReader) size() (links, bytes int) {
	for _, list := range r.anchors {
		links += len(list)
		for _, a := range list {
			bytes += len(a)
		}
	}
	return links, bytes + len(r.target)
}
