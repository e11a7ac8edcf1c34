package repository_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/webindexer/indexer/internal/testenv"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/render"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Environment variables that the parent sets for a child that renders.
const (
	// childBrowser is the program, and childBrowserPIDs the file to which it appends its
	// process id when it starts.
	childBrowser     = "REPOSITORY_TEST_CHILD_BROWSER"
	childBrowserPIDs = "REPOSITORY_TEST_CHILD_BROWSER_PIDS"
	// childBrowserKills are the lookups at which the child kills its browser, as numbers with
	// commas between, counted from 1.
	childBrowserKills = "REPOSITORY_TEST_CHILD_BROWSER_KILLS"
)

// What it says besides.
const (
	saysLookup      = "lookup"       // the browser asks for a resource
	saysBrowserDead = "browser-dead" // it has killed its browser
)

// TestRenderedKilled kills a process that loads the site and renders it in Chromium at random
// moments, and its browser at random moments, and starts it again until it ends on its own. Each
// start loads the whole site in another order, with 1 or 8 workers. In the end digest, forms and
// verify are those of an undisturbed run.
func TestRenderedKilled(t *testing.T) {
	path, err := render.Find("")
	if err != nil || testing.Short() || runtime.GOOS != "linux" {
		t.Skip("no browser, a short test, or a system on which the browser outlives a killed process: ", err)
	}
	k := renderKilling{rnd: testenv.Random(t), left: testenv.Size(1, 2, 20)}
	k.prepareBrowser(t, path)
	k.undisturbed(t, path)
	for rounds := 0; k.left > 0; rounds++ {
		k.round(t)
		if rounds == 100 {
			t.Fatalf("%d kills are left after %d rounds", k.left, rounds)
		}
	}
	t.Logf("killed at %v", k.killed)
}

type renderKilling struct {
	rnd     *rand.Rand
	left    int            // kills
	killed  map[string]int // by event
	program string         // writes its process id, and becomes the browser
	pids    string         // the file for that
	temp    string         // for the profiles of browsers

	digest  string // of an undisturbed run
	forms   map[page.URL]schema.StoredForm
	lookups int // that a run makes at least
}

// prepareBrowser writes a program that says who it is before it becomes the browser.
func (k *renderKilling) prepareBrowser(t *testing.T, path string) {
	t.Helper()
	dir := t.TempDir()
	k.killed = make(map[string]int)
	k.program, k.pids = filepath.Join(dir, "browser"), filepath.Join(dir, "pids")
	script := fmt.Sprintf("#!/bin/sh\necho $$ >> '%s'\nexec '%s' \"$@\"\n", k.pids, path)
	if err := os.WriteFile(k.program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var err error
	if k.temp, err = os.MkdirTemp("", "render-kill-"); err != nil {
		t.Fatal(err)
	}
	// Processes of a browser whose parent was killed may write for a moment.
	t.Cleanup(func() { _ = os.RemoveAll(k.temp) })
}

// undisturbed loads the site in order, in one process.
func (k *renderKilling) undisturbed(t *testing.T, path string) {
	t.Helper()
	browser := render.New(render.Options{Path: path})
	defer func() {
		if err := browser.Close(); err != nil {
			t.Error(err)
		}
	}()
	r := open(t, t.TempDir(), repository.Options{Render: "auto", Renderer: repository.Chromium{Browser: browser}, Workers: 1})
	defer closeNow(t, r)
	load(t, r, 1, wholeSite(t))
	k.digest, k.forms = digestOf(t, r), siteForms(t, r)
	wantSound(t, r, k.digest)
	for _, f := range k.forms {
		k.lookups += len(f.Inputs)
	}
	if k.lookups == 0 {
		t.Fatal("nothing was rendered")
	}
}

// siteForms returns the rendered forms of the site.
func siteForms(t *testing.T, r *repository.Repository) map[page.URL]schema.StoredForm {
	t.Helper()
	forms := make(map[page.URL]schema.StoredForm)
	for _, f := range wholeSite(t) {
		if form := formOf(t, r, f.URL); form != nil {
			forms[f.URL] = *form
		}
	}
	return forms
}

// round kills the processes of one directory a few times, lets one end, and checks. The first
// process renders all pages, so it comes to the moment of its death.
func (k *renderKilling) round(t *testing.T) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	for range min(k.left, 1+k.rnd.IntN(3)) {
		at := moment{saysLookup, 1 + k.rnd.IntN(k.lookups)}
		if k.rnd.IntN(3) == 0 {
			at = moment{saysLoad, 1 + k.rnd.IntN(len(wholeSite(t)))}
		}
		if s := k.start(t, dir, at); !s.killed {
			break // it was done sooner than that
		}
		k.left--
		k.killed[at.event]++
	}
	if s := k.start(t, dir, moment{}); s.digest != k.digest {
		t.Errorf("digest %s after kills, want %s", s.digest, k.digest)
	}
	r := open(t, dir, repository.Options{})
	defer closeNow(t, r)
	wantSound(t, r, k.digest)
	forms := siteForms(t, r)
	for u, want := range k.forms {
		if got := forms[u]; !reflect.DeepEqual(got, want) {
			t.Errorf("the form of %s is\n%+v\nundisturbed\n%+v", u, got, want)
		}
	}
	if len(forms) != len(k.forms) {
		t.Errorf("there are forms of %v, undisturbed of %v", slices.Collect(maps.Keys(forms)), slices.Collect(maps.Keys(k.forms)))
	}
}

// start runs a process, whose browser dies up to twice: at the third time, the page would be left
// as it is until the next start.
func (k *renderKilling) start(t *testing.T, dir string, kill moment) story {
	t.Helper()
	var deaths []string
	for range min(k.left, k.rnd.IntN(3)) {
		deaths = append(deaths, strconv.Itoa(1+k.rnd.IntN(k.lookups)))
	}
	s := startChild(t, dir, renderedWeb, txn.OnePhase, with(
		fmt.Sprint(childWorkers, "=", []int{1, 8}[k.rnd.IntN(2)]), fmt.Sprint(childOrder, "=", k.rnd.Uint64()),
		childBrowser+"="+k.program, childBrowserPIDs+"="+k.pids, childBrowserKills+"="+strings.Join(deaths, ","), "TMPDIR="+k.temp,
	)).listen(kill)
	if s.failed != "" {
		t.Fatalf("the child failed: %s", s.failed)
	}
	k.left -= s.said[saysBrowserDead]
	k.killed[saysBrowserDead] += s.said[saysBrowserDead]
	return s
}

// childRenderer returns the browser of a child, nil if it does not render, and what closes it.
func childRenderer() (observers.Renderer, func() error) {
	path := os.Getenv(childBrowser)
	if path == "" {
		return nil, func() error { return nil }
	}
	b := render.New(render.Options{Path: path})
	return &dyingBrowser{Renderer: repository.Chromium{Browser: b}, deaths: strings.Split(os.Getenv(childBrowserKills), ",")}, b.Close
}

// dyingBrowser is a browser that dies at some lookups.
type dyingBrowser struct {
	observers.Renderer
	deaths []string

	mu      sync.Mutex
	lookups int
}

func (m *dyingBrowser) Render(ctx context.Context, f *page.Fetch, lookup observers.Lookup) (*observers.Rendering, error) {
	return m.Renderer.Render(ctx, f, func(ctx context.Context, u page.URL) (*page.Fetch, error) {
		say(saysLookup)
		if m.dies() {
			if err := killBrowser(); err != nil {
				return nil, err
			}
			say(saysBrowserDead)
		}
		return lookup(ctx, u)
	})
}

func (m *dyingBrowser) dies() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lookups++
	return slices.Contains(m.deaths, strconv.Itoa(m.lookups))
}

// killBrowser kills the browser that was started last. It is being used.
func killBrowser() error {
	pids, err := os.ReadFile(os.Getenv(childBrowserPIDs))
	if err != nil {
		return err
	}
	all := bytes.Fields(pids)
	pid, err := strconv.Atoi(string(all[len(all)-1]))
	if err != nil {
		return err
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if errors.Is(err, os.ErrProcessDone) {
		return nil // another page's lookup has killed it
	}
	return err
}
