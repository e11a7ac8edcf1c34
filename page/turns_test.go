package page

import (
	"testing"
	"testing/synctest"
)

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
