package relevancebench

import (
	"reflect"
	"testing"
	"time"

	"github.com/webindexer/indexer/page"
)

func TestCompared(t *testing.T) {
	hits := func(took time.Duration, list map[string][]page.URL) *answers { return &answers{hits: list, took: took} }
	files := hits(4*time.Millisecond, map[string][]page.URL{"same": {"a", "b"}, "order": {"a", "b"}, "other": {"a", "b"}, "nothing": {}})
	server := hits(40*time.Millisecond, map[string][]page.URL{"same": {"a", "b"}, "order": {"b", "a"}, "other": {"c"}, "nothing": {}})
	want := &Agreement{
		Queries: 4, SameFirst: 2, SameTen: 2, Shared: 4.0 / 6, FilesMS: 1, ServerMS: 10, Requests: 2.5,
		Differing: []Difference{{"order", "a", "b"}, {"other", "a", "c"}},
	}
	if got := compared(files, server, 10); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
