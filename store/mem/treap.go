package mem

import (
	"cmp"
	"strings"
)

// A persistent treap (Seidel and Aragon, "Randomized Search Trees", 1996): a
// search tree by key and a heap by priority. Insert and remove copy the nodes on
// the path from the root and change no node that an earlier root can reach, so
// keeping an old root is keeping a snapshot.

// cellKey orders cells: rows ascending, columns ascending, timestamps descending.
type cellKey struct {
	row, column string
	inverseTS   uint64 // ^TS, or 0 in a Latest group, where a column has one cell
}

func (a *cellKey) compare(b *cellKey) int {
	if c := strings.Compare(a.row, b.row); c != 0 {
		return c
	}
	if c := strings.Compare(a.column, b.column); c != 0 {
		return c
	}
	return cmp.Compare(a.inverseTS, b.inverseTS)
}

// node is immutable once its root is published.
type node struct {
	key         cellKey
	ts          uint64
	value       string
	priority    uint64
	left, right *node
}

// insert returns a tree with n added, or in the place of the node with n's key.
func insert(t, n *node) *node {
	if t == nil {
		return n
	}
	c := *t
	switch order := n.key.compare(&t.key); {
	case order == 0:
		c.ts, c.value = n.ts, n.value
		return &c
	case order < 0:
		l := insert(t.left, n) // a fresh node: it may be changed here
		c.left = l
		if l.priority > c.priority {
			c.left, l.right = l.right, &c
			return l
		}
	default:
		r := insert(t.right, n)
		c.right = r
		if r.priority > c.priority {
			c.right, r.left = r.left, &c
			return r
		}
	}
	return &c
}

// remove returns a tree without key; t itself if key is not there.
func remove(t *node, key *cellKey) *node {
	if t == nil {
		return nil
	}
	order := key.compare(&t.key)
	if order == 0 {
		return join(t.left, t.right)
	}
	c := *t
	if order < 0 {
		if c.left = remove(t.left, key); c.left == t.left {
			return t
		}
	} else {
		if c.right = remove(t.right, key); c.right == t.right {
			return t
		}
	}
	return &c
}

// join returns a tree of both; all keys of l are smaller than those of r.
func join(l, r *node) *node {
	switch {
	case l == nil:
		return r
	case r == nil:
		return l
	case l.priority > r.priority:
		c := *l
		c.right = join(l.right, r)
		return &c
	}
	c := *r
	c.left = join(l, r.left)
	return &c
}

// ascend calls fn for the nodes from a key on, in order, until it returns false.
func ascend(t *node, from *cellKey, fn func(*node) bool) bool {
	if t == nil {
		return true
	}
	if from.compare(&t.key) <= 0 {
		return ascend(t.left, from, fn) && fn(t) && ascend(t.right, from, fn)
	}
	return ascend(t.right, from, fn)
}
