package repository

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/webindexer/indexer/observers"
)

// The log names rows as `indexer dead list` does, so that they can be looked up.
func TestLogNamesRowsAsText(t *testing.T) {
	registry, err := observers.Options{}.Registry()
	if err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zap.WarnLevel)
	r := &Repository{log: zap.New(core), registry: registry}
	row := strings.Repeat("\xf3*", 16)
	failed := errors.New("the server does not answer")
	r.events().Failed("index", []string{row, row, row, row}, 1, failed)
	r.events().Dead("index", row, failed)
	entries := logs.All()
	if len(entries) != 2 {
		t.Fatalf("%d entries: %v", len(entries), entries)
	}
	first, _ := entries[0].ContextMap()["first"].([]any)
	want := strings.Repeat("f32a", 16)
	if len(first) != loggedRows || first[0] != want || entries[1].ContextMap()["row"] != want {
		t.Errorf("the log names the rows %q, and gave up on %q", first, entries[1].ContextMap()["row"])
	}
}
