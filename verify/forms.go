package verify

import (
	"context"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"

	"github.com/webindexer/indexer/index"
	"github.com/webindexer/indexer/observers"
	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/repository"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
	"github.com/webindexer/indexer/verify/batch"
)

// Rendered forms cannot be computed again without the same browser. So verify takes the stored
// documents, and checks that they were made from the fetches in force: a form names all its
// inputs.

// interpretFetch makes the document of a fetch, from the rendered form of the page if it has
// one, and checks the form. content is the value of fetch:content.
func (v *verifier) interpretFetch(ctx context.Context, tx *txn.Txn, row string, f *page.Fetch, content []byte, rep *Report) (page.Document, error) {
	if v.render.Mode() == schema.RenderOff {
		return page.Interpret(f), nil
	}
	doc, found := page.Examine(f)
	why := v.render.Qualifies(&doc, found)
	stored, err := tx.GetOnce(ctx, row, schema.Form)
	if err != nil {
		return doc, err
	}
	column, url := schema.Form.Name, string(f.URL)
	if !stored.Exists || why == "" {
		if stored.Exists || why != "" {
			rep.add(schema.GroupRender, url, column, describeForm(stored.Exists), describeForm(why != ""))
		}
		return doc, nil
	}
	form, err := schema.DecodeForm(stored.Data)
	if err != nil {
		return doc, err
	}
	inForce := schema.DigestContent(txn.Value{Exists: true, Data: content})
	rep.same(schema.GroupRender, url, column+" (why)", form.Why, why)
	rep.same(schema.GroupRender, url, column+" (page)", fmt.Sprintf("%x", form.Page), fmt.Sprintf("%x", inForce))
	if len(form.Stale) > 0 {
		rep.add(schema.GroupRender, url, column+" (stale inputs)", fmt.Sprint(form.Stale), "")
	}
	if hasForm := form.HTML != nil; hasForm == (form.Failure != "") {
		rep.add(schema.GroupRender, url, column+" (document)", fmt.Sprintf("%d bytes, failure %q", len(form.HTML), form.Failure), "a document or a failure")
	}
	if err := checkInputs(ctx, tx, url, form.Inputs, rep); err != nil {
		return doc, err
	}
	if form.HTML != nil {
		doc = page.InterpretForm(f, &doc, form.HTML)
	}
	return doc, nil
}

func describeForm(exists bool) string {
	if exists {
		return "a form"
	}
	return ""
}

// checkInputs compares the inputs of a form with the fetches in force.
func checkInputs(ctx context.Context, tx *txn.Txn, url string, inputs []schema.RenderInput, rep *Report) error {
	for _, i := range inputs {
		same, err := observers.InputsInForce(ctx, tx, []schema.RenderInput{i})
		if err != nil {
			return err
		}
		if !same {
			rep.add(schema.GroupRender, url, schema.Form.Name+" (input)", fmt.Sprintf("%s with the digest %x", i.URL, i.Content), "another fetch of it")
		}
	}
	return nil
}

// compareForms compares pair rows with the inputs of the forms, and finds forms and screenshots
// that belong to nothing, and unfinished work.
func (v *verifier) compareForms(ctx context.Context) error {
	needs, kept := make(map[page.URL][]page.URL), make(interned)
	pictured := make(map[string]bool) // rows with a form that has a document
	err := v.scan(ctx, schema.GroupRender, func(row string, cols []txn.Version) error {
		for _, c := range cols {
			if c.Name != schema.Form.Name {
				v.rep.add(schema.GroupRender, readableURL(row), c.Name, "work left over", "")
				continue
			}
			v.rep.Checked["forms"]++
			form, err := schema.DecodeForm(c.Data)
			if err != nil {
				return fmt.Errorf("form of %s: %w", readableURL(row), err)
			}
			if err := v.checkOwner(ctx, row); err != nil {
				return err
			}
			pictured[row] = form.HTML != nil
			u, err := schema.ParseURLRow(row)
			if err != nil {
				return err
			}
			for _, i := range form.Inputs {
				needs[u] = append(needs[u], page.URL(kept.one(string(i.URL))))
			}
			slices.Sort(needs[u])
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := v.compareNeeds(ctx, needs); err != nil {
		return err
	}
	return v.scan(ctx, schema.GroupShot, func(row string, cols []txn.Version) error {
		for _, c := range cols {
			if !pictured[row] {
				v.rep.add(schema.GroupShot, readableURL(row), c.Name, "a picture", "")
			}
		}
		return nil
	})
}

// checkOwner reports a form that interpretFetch has not seen, because the setting is off or
// there is no fetch.
func (v *verifier) checkOwner(ctx context.Context, row string) error {
	content, err := v.tx.GetOnce(ctx, row, schema.FetchContent)
	if err != nil {
		return err
	}
	if v.render.Mode() == schema.RenderOff || !content.Exists {
		v.rep.add(schema.GroupRender, readableURL(row), schema.Form.Name, describeForm(true), "")
	}
	return nil
}

// compareNeeds compares the need rows with the inputs of each page, in ascending order.
func (v *verifier) compareNeeds(ctx context.Context, inputs map[page.URL][]page.URL) error {
	return v.comparePairs(ctx, &pairs{
		column: schema.Need, kind: "needs",
		stored: func([]txn.Version) (string, error) { return "need", nil },
		computed: func(u *batch.URL, target page.URL) string {
			if _, needed := slices.BinarySearch(inputs[u.URL], target); needed {
				return "need"
			}
			return ""
		},
		targets: func(u *batch.URL) iter.Seq[page.URL] { return slices.Values(inputs[u.URL]) },
	})
}

// compareThumbnails compares the thumbnails in the index files with the stored ones.
func (v *verifier) compareThumbnails(ctx context.Context, files repository.IndexView) error {
	for e, err := range files.Entries(ctx) {
		if err != nil {
			return err
		}
		image, err := observers.ThumbnailOf(ctx, v.tx, e.URL)
		if err != nil {
			return err
		}
		if len(image) > 0 || e.Thumbnail != (index.ThumbnailSum{}) {
			v.rep.Checked["thumbnails"]++
			want := index.SumThumbnail(image)
			v.rep.same(indexFiles, string(e.URL), "thumbnail", hex.EncodeToString(e.Thumbnail[:]), hex.EncodeToString(want[:]))
		}
	}
	return nil
}
