package trace

import (
	"fmt"
	"strings"
	"time"
)

// Text formats a journey for people: a summary, and then a line for each step with the
// milliseconds since the load. ~ marks approximate values.
func (j *Journey) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", j.URL, j.headline())
	if j.Reason != "" {
		fmt.Fprintf(&b, "%s\n", j.Reason)
	}
	if f := j.Fetch; f != nil {
		fmt.Fprintf(&b, "\nfetched     %s  status %d%s\n", day(f.Time), f.Status, f.cost())
	}
	if j.Loaded != nil {
		fmt.Fprintf(&b, "loaded      %s\n", j.Loaded.text())
	}
	if j.Searchable != nil {
		fmt.Fprintf(&b, "searchable  %s\n", j.Searchable.text())
	}
	if len(j.Steps) > 0 {
		fmt.Fprintf(&b, "\n%12s %11s %11s  %s\n", "since load", "waited", "took", "what")
	}
	for i := range j.Steps {
		b.WriteString(j.Steps[i].text())
	}
	if j.Omitted > 0 {
		fmt.Fprintf(&b, "\n%d steps after the page became searchable are omitted\n", j.Omitted)
	}
	for _, w := range j.Waiting {
		fmt.Fprintf(&b, "\nwaiting: %s on the %s, since %s\n", w.Observer, w.On, w.Since.text())
	}
	if j.Loaded != nil && !j.Recorded {
		b.WriteString("\nReconstructed from the store alone: failed attempts are unknown, and times are approximate.\n")
	}
	return b.String()
}

func (j *Journey) headline() string {
	switch {
	case j.State == StateUnknown:
		return "was never loaded successfully"
	case j.State == StateUnderWay:
		return "is in progress"
	case j.State == StateSettled:
		return "is settled; it has nothing to export"
	case j.TookMS == nil:
		return "is searchable"
	}
	about := ""
	if j.Searchable.WithinMS > 0 || j.Loaded.WithinMS > 0 {
		about = "about "
	}
	if j.AtLatest {
		return fmt.Sprintf("was searchable within %s%.1f ms of being loaded", about, *j.TookMS)
	}
	return fmt.Sprintf("was searchable %s%.1f ms after it was loaded", about, *j.TookMS)
}

func (f *Fetch) cost() string {
	s := ""
	if f.MS != nil {
		s += fmt.Sprintf(", in %d ms", *f.MS)
	}
	if f.Bytes != nil {
		s += ", " + size(int(*f.Bytes))
	}
	return s
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

func (m *Moment) text() string {
	s := "at an unknown time"
	if m.At != nil {
		s = day(*m.At)
	}
	if m.TS != 0 {
		s += fmt.Sprintf("  timestamp %d", m.TS)
	}
	if m.WithinMS > 0 {
		s += fmt.Sprintf("  (± %.0f ms)", m.WithinMS)
	}
	return s
}

func (s *Step) text() string {
	var b strings.Builder
	since := "?"
	if s.SinceLoadMS != nil {
		since = fmt.Sprintf("%.1f ms", *s.SinceLoadMS)
		if s.Ended.WithinMS > 0 {
			since = "~" + since
		}
	}
	fmt.Fprintf(&b, "%12s %11s %11s  %s", since, span(s.WaitedMS), span(s.TookMS), s.name())
	if s.Found {
		b.WriteString("  — searchable")
	}
	b.WriteString("\n" + s.details())
	return b.String()
}

func span(ms *float64) string {
	if ms == nil {
		return ""
	}
	return fmt.Sprintf("%.1f ms", *ms)
}

func (s *Step) name() string {
	name := s.Observer
	switch s.What {
	case StepLoad:
		return "load"
	case StepAgain:
		return "fetched again, nothing new"
	}
	if name == "" {
		name = "unknown observer"
	}
	if s.On != "" {
		name += " on the " + s.On
	}
	if s.Batch > 1 {
		name += fmt.Sprintf(", with %d other rows", s.Batch-1)
	}
	switch s.What {
	case StepConflict:
		name += ": conflict, will run again"
	case StepFailure:
		name += ": failed"
	}
	return name
}

// details are the lines below a step: its error, what it wrote, its timestamps.
func (s *Step) details() string {
	indent := strings.Repeat(" ", 40)
	var b strings.Builder
	if s.Error != "" {
		first, _, _ := strings.Cut(s.Error, "\n")
		fmt.Fprintf(&b, "%s%q\n", indent, first)
	}
	if len(s.Wrote) > 0 {
		list := make([]string, len(s.Wrote))
		for i, w := range s.Wrote {
			list[i] = w.text()
		}
		fmt.Fprintf(&b, "%swrote %s\n", indent, strings.Join(list, ", "))
	}
	switch {
	case s.Commit != 0 && s.Start != 0:
		fmt.Fprintf(&b, "%stimestamps %d to %d\n", indent, s.Start, s.Commit)
	case s.Start != 0:
		fmt.Fprintf(&b, "%sbegan at timestamp %d\n", indent, s.Start)
	}
	return b.String()
}

func (w *Write) text() string {
	s := w.Column
	if w.Cells > 1 {
		s += fmt.Sprintf(" in %d rows", w.Cells)
	}
	switch {
	case w.Op == "delete":
		return s + " deleted"
	case w.Bytes > 0:
		return s + " " + size(w.Bytes)
	}
	return s
}

func size(n int) string {
	if n < 10_000 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f kB", float64(n)/1000)
}
