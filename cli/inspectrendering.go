package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/repository/inspect"
	"github.com/webindexer/indexer/repository/snapshot"
)

// renderingText says whether a page is rendered and why, and what the index has as a result.
func renderingText(t *table, r *inspect.Rendering) {
	if r == nil {
		return
	}
	state := r.State
	if r.Reason != "" {
		state += ": " + r.Reason
	}
	t.row("rendering", state)
	if r.Qualifies {
		t.row("rendered because", r.Why)
	} else {
		t.row("as fetched because", r.Why)
	}
	if r.Rendered != nil {
		t.row("as fetched", readingText(r.Raw))
		t.row("as rendered", readingText(r.Rendered))
	}
	list(t, "resources", r.Resources, resourceText)
	list(t, "console", r.Console, func(line string) string { return line })
	if r.Screenshot > 0 {
		t.row("screenshot", fmt.Sprintf("%d bytes; --screenshot FILE writes it", r.Screenshot))
	}
}

// readingText formats what a form of a page says.
func readingText(r *inspect.Reading) string {
	text := fmt.Sprintf("title %q, %s of text, %s", r.Title, count(r.Characters, "character"), count(r.Links, "link"))
	if r.Canonical != "" {
		text += ", canonical " + string(r.Canonical)
	}
	if robots := r.Robots(); robots != "" {
		text += ", robots " + robots
	}
	return text
}

func resourceText(r inspect.Resource) string {
	text := fmt.Sprintf("%-7s  %s", r.State, r.URL)
	if r.Status > 0 {
		text += strings.TrimRight(fmt.Sprintf("  %d %s", r.Status, r.Type), " ")
	}
	return text
}

// sendScreenshot writes the screenshot that a request asks for.
func sendScreenshot(ctx context.Context, r *repository.Repository, u page.URL, at snapshot.Moment, w io.Writer) error {
	tx, err := snapshot.Past(ctx, r.DB(), at)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	image, err := inspect.Picture(ctx, r.DB(), u, tx.Start(), false)
	if err != nil {
		return err
	}
	_, err = w.Write(image)
	return err
}
