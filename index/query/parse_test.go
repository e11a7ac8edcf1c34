package query

import "testing"

func TestNarrowedBy(t *testing.T) {
	for q, want := range map[string]Narrowed{
		"": {}, "website:a.example": {}, `"site:a.example"`: {}, "-site:a.example": {}, "rope -lang:de -filetype:txt": {},
		"site:a.example OR site:b.example": {}, "(site:a.example rope) OR knot": {}, "-(site:a.example)": {}, "site:": {}, "site:a/b": {},
		"site:a.example": {Site: true}, "rope SITE:a.example -site:b.a.example": {Site: true}, "(rope site:a.example)": {Site: true},
		"lang:de ext:txt": {Lang: true, FileType: true}, "“rope” filetype:html": {FileType: true},
	} {
		if got := NarrowedBy(q); got != want {
			t.Errorf("%s: %+v, want %+v", q, got, want)
		}
	}
}
