package page

import (
	"bytes"
	"net/http"
	"testing"
	"testing/synctest"
)

// TestTreesTakeTurns: whoever makes the tree of a large page waits for its turn.
func TestTreesTakeTurns(t *testing.T) {
	f := &Fetch{URL: "https://a.example/", Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: bytes.Repeat([]byte("word "), smallPage/5+1)}
	for name, read := range map[string]func(){"Interpret": func() { Interpret(f) }, "Subresources": func() { Subresources(f) }} {
		synctest.Test(t, func(t *testing.T) {
			done := treeTurns.take(treeBytes)
			ended := false
			go func() {
				read()
				ended = true
			}()
			synctest.Wait()
			if ended {
				t.Errorf("%s did not wait", name)
			}
			done()
		})
	}
}

func TestLargePagesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := newTurns(4 << 20)
		first := turns.take(3 << 20)
		var second, alone bool
		go func() {
			done := turns.take(2 << 20)
			second = true
			done()
			done = turns.take(100 << 20)
			alone = true
			done()
		}()
		synctest.Wait()
		if second {
			t.Error("a page of 2 MiB did not wait for one of 3 MiB, with 4 MiB in all")
		}
		turns.take(smallPage)()
		first()
		synctest.Wait()
		if !second || !alone {
			t.Errorf("after the turn of the first page: the second had its turn: %t, one that never fits: %t; want both", second, alone)
		}
	})
}
