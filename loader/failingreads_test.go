package loader_test

import (
	"errors"
	"testing"

	"github.com/webindexer/indexer/observers/webtest"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/pdf/pdftest"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/store"
	"github.com/webindexer/indexer/store/faulty"
	"github.com/webindexer/indexer/store/mem"
	"github.com/webindexer/indexer/txn"
)

// TestFailingReads makes each read of the table fail in turn while a fetch is loaded. Load returns the
// error, and a second Load leaves the URL as if nothing had failed.
func TestFailingReads(t *testing.T) {
	icon := func(line string) *page.Fetch { return parse(t, "a.example/favicon.ico "+line) }
	document := func(line string) *page.Fetch {
		f := icon(line)
		f.Header.Set("Content-Type", pdftest.Type)
		return f
	}
	for name, fetches := range map[string][]*page.Fetch{
		"first":                        {icon("at=1 page text=lost")},
		"renewed":                      {icon("at=1 page text=lost"), icon("at=2 page text=lost")},
		"changed":                      {icon("at=1 page text=lost"), icon("at=2 page text=found")},
		"revisit":                      {icon("at=1 page text=lost"), icon("at=2 revisit")},
		"late":                         {icon("at=2 page text=lost"), icon("at=1 page text=found")},
		"same time and body":           {icon("at=1 gone"), icon("at=1 error")},
		"first icon":                   {icon("at=1 icon=1")},
		"icon as another":              {icon("at=1 icon=1"), icon("at=2 icon=2")},
		"icon gone":                    {icon("at=1 icon=1"), icon("at=2 gone")},
		"icon loaded again":            {icon("at=1 icon=1"), icon("at=1 icon=1")},
		"first icon read as document":  {document("at=1 icon=1")},
		"another icon as document":     {document("at=1 icon=1"), document("at=2 icon=2")},
		"icon read as document, again": {document("at=1 icon=1"), document("at=1 icon=1")},
		"icon read as document, gone":  {document("at=1 icon=1"), icon("at=2 gone")},
	} {
		t.Run(name, func(t *testing.T) {
			want, first, last := afterFailingRead(t, fetches, 0)
			if first == last {
				t.Fatal("the load reads nothing")
			}
			for n := first + 1; n <= last; n++ {
				if got, _, _ := afterFailingRead(t, fetches, n); got != want {
					t.Errorf("read %d fails: in force is\n%snot\n%s", n, got, want)
				}
			}
		})
	}
}

// afterFailingRead loads fetches of one URL, the last of them while read n of the table fails, and then
// again; 0 means that none fails. It returns what is in force then, and how many reads there were before
// and after the load.
func afterFailingRead(t *testing.T, fetches []*page.Fetch, n int) (row string, first, last int) {
	t.Helper()
	inner, err := mem.New(txn.Groups(schema.Groups()...), mem.Options{})
	if err != nil {
		t.Fatal(err)
	}
	open := func(table store.Table) *webtest.Rig {
		return openRig(t, webtest.Options{Table: table, PDF: new(pdfReader)})
	}
	r := open(inner)
	setPDFs(t, r, schema.FormatOn)
	f := fetches[len(fetches)-1]
	for _, before := range fetches[:len(fetches)-1] {
		mustLoad(t, r, before)
	}

	table, probe := faulty.Wrap(inner, faulty.Plan{N: n, Kinds: faulty.Reads, Fault: faulty.Fail})
	r = open(table)
	first = probe.Operations()
	_, err = r.Load(t.Context(), f)
	last = probe.Operations()
	if n > 0 && !errors.Is(err, faulty.ErrInjected) || n == 0 && err != nil {
		t.Errorf("read %d fails: %v", n, err)
	}

	r = open(inner)
	mustLoad(t, r, f)
	return inForce(t, r, f.URL, false), first, last
}
