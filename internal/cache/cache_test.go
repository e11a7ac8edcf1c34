package cache

import "testing"

// TestCache: what is used stays, what is not used goes, and the size has a bound.
func TestCache(t *testing.T) {
	const most, size = 24, 1
	c := New[int, int](most)
	for i := range 200 {
		c.Add(i, -i, size)
		if v, known := c.Get(0); !known || v != 0 {
			t.Fatalf("what is used all the time is gone after %d", i)
		}
		if c.size > most || len(c.new)+len(c.old) > 2*most {
			t.Fatalf("%d and %d values of %d bytes", len(c.new), len(c.old), c.size)
		}
	}
	if _, known := c.Get(1); known {
		t.Error("what is not used is still there")
	}
	if v, known := c.Get(199); !known || v != -199 {
		t.Errorf("the newest value is %d, %v", v, known)
	}
	c.Add(200, 0, most/4+1)
	if _, known := c.Get(200); known {
		t.Error("a value of more than a fourth of the size is there")
	}
}
