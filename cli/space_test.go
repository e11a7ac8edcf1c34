package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"
)

func TestSpaceWatch(t *testing.T) {
	var free int64
	var fails error
	w := &spaceWatch{log: zap.NewNop(), disks: []disk{{"data", func() (int64, error) { return free, fails }}}}
	for i, step := range []struct {
		mib   int64
		fails error
		why   string // what it contains
	}{
		{700, nil, ""},
		{512, nil, ""},
		{511, nil, "only 511 MiB"},
		{639, nil, "only 639 MiB"}, // not yet
		{640, nil, ""},
		{600, nil, ""}, // not again
		{3, nil, "only 3 MiB"},
		{0, errors.New("no such call"), ""},
		{600, nil, ""},
	} {
		free, fails = step.mib<<20, step.fails
		if why := w.pause(); (why == "") != (step.why == "") || !strings.Contains(why, step.why) {
			t.Errorf("step %d, %d MiB: %q, want %q", i+1, step.mib, why, step.why)
		}
	}
}

// TestSpaceWatchOfTwoDisks: the crawl pauses when any disk that it writes to is nearly full, and
// watches the other one if a disk does not report its free space.
func TestSpaceWatchOfTwoDisks(t *testing.T) {
	free := func(mib int64, err error) func() (int64, error) {
		return func() (int64, error) { return mib << 20, err }
	}
	fails := errors.New("no such call")
	w := &spaceWatch{log: zap.NewNop()}
	for i, step := range []struct {
		data, archive func() (int64, error)
		why           string
	}{
		{free(700, nil), free(700, nil), ""},
		{free(700, nil), free(3, nil), "only 3 MiB are free on the disk of archive;"},
		{free(600, nil), free(700, nil), "only 600 MiB are free on the disk of data;"}, // not yet
		{free(700, nil), free(640, nil), ""},
		{free(0, fails), free(4, nil), "only 4 MiB are free on the disk of archive;"},
		{free(5, nil), free(0, fails), "only 5 MiB are free on the disk of data;"},
		{free(0, fails), free(0, fails), ""},
	} {
		w.disks = []disk{{"data", step.data}, {"archive", step.archive}}
		if why := w.pause(); (why == "") != (step.why == "") || !strings.Contains(why, step.why) {
			t.Errorf("step %d: %q, want %q", i+1, why, step.why)
		}
	}
}

// untilSaid is a writer that tells once when a text was written.
type untilSaid struct {
	mu   sync.Mutex
	all  bytes.Buffer
	text string
	said chan struct{}
}

func (u *untilSaid) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, _ = u.all.Write(p) // to memory
	if u.text != "" && strings.Contains(u.all.String(), u.text) {
		close(u.said)
		u.text = ""
	}
	return len(p), nil
}

// fullDisk is a disk that the third page fills and the test then empties. It reports
// each question that comes while it is full.
type fullDisk struct {
	full  atomic.Bool
	asked chan struct{}
}

func (d *fullDisk) freeBytes() (int64, error) {
	if !d.full.Load() {
		return 1 << 40, nil
	}
	select {
	case d.asked <- struct{}{}:
	default: // no receiver waits
	}
	return 100 << 20, nil
}

// TestFullDisk: a crawl pauses when there is little room, says so on its status line,
// answers questions meanwhile, and continues to its end when there is room.
func TestFullDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("the status line comes every five seconds")
	}
	t.Parallel()
	const pages = 80
	disk := &fullDisk{asked: make(chan struct{})}
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/p%d", &n); err != nil || n >= pages {
			http.NotFound(w, r)
			return
		}
		requests.Add(1)
		if n == 3 {
			disk.full.Store(true)
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<title>Page %d</title><p>This is page number %d of many, and it says %d to be another one than the rest.<a href="/p%d">next</a>`, n, n, n*n, n+1)
	}))
	defer server.Close()

	dir := filepath.Join(t.TempDir(), "data")
	var out bytes.Buffer
	status := &untilSaid{text: "paused: only 100 MiB are free on the disk", said: make(chan struct{})}
	a := newApp(nil, &out, status)
	a.freeBytes = disk.freeBytes
	root := a.rootCommand()
	root.SetArgs([]string{"--data", dir, "crawl", "--allow-private", "--delay", "20ms", server.URL + "/p0"})
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(context.Background()) }()

	select {
	case <-status.said:
	case err := <-ended:
		t.Fatalf("the crawl ended without a pause: %v\n%s\n%s", err, out.String(), status.all.String())
	}
	var asked bytes.Buffer
	if code := Main(context.Background(), []string{"--data", dir, "inspect", server.URL + "/p1"}, nil, &asked, &asked); code != statusDone || !strings.Contains(asked.String(), "Page 1") {
		t.Errorf("asked in the pause it answers with status %d: %s", code, asked.String())
	}
	<-disk.asked // what was under way when the pause began is over by the next question
	before := requests.Load()
	<-disk.asked
	if after := requests.Load(); after != before || after >= pages {
		t.Errorf("%d pages were requested when the pause had begun and %d later in it", before, after)
	}
	disk.full.Store(false)
	if err := <-ended; err != nil {
		t.Fatalf("%v\n%s", err, status.all.String())
	}
	if got := requests.Load(); got != pages || !strings.Contains(out.String(), fmt.Sprintf("has %d documents", pages)) {
		t.Errorf("%d pages were requested, want %d\n%s", got, pages, out.String())
	}
}
