package crawltest

import (
	"testing"
	"time"
)

// TestDropped: a connection that is closed without an answer is a failure like any
// other, after which the host is left alone. It must not be asked again at once.
func TestDropped(t *testing.T) {
	t.Parallel()
	const delay = 10 * time.Millisecond
	w := Serve(t, `
-- 2024-01-01 http://drop.ip70/ --
<title>Start</title><p>This page leads to one that is never answered, by a server that closes the connection: <a href="/drop">drop</a>.
-- 2024-01-01 http://drop.ip70/drop --
X-Expect: 2
X-Serve: drop
`)
	crawlOnce(t, NewSetting(t.TempDir(), delay, w.URL("http://drop.ip70/")))
	w.CheckCounts(t, w.Expected(t))
	w.CheckPoliteness(t, delay)
}
