package webtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webindexer/indexer/page"
	"github.com/webindexer/indexer/schema"
	"github.com/webindexer/indexer/txn"
)

// Dump formats, for people, every cell of the application that tx sees, one per line, by
// group and row.
func Dump(ctx context.Context, tx *txn.Txn) ([]string, error) {
	var out []string
	for _, group := range schema.Groups() {
		err := tx.Scan(ctx, group, "", "", func(row string, cols []txn.Version) error {
			for _, c := range cols {
				line, err := format(group, row, c)
				if err != nil {
					return fmt.Errorf("%s %q %s: %w", group, row, c.Name, err)
				}
				out = append(out, line)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// DumpNotifications formats the pending notifications.
func DumpNotifications(ctx context.Context, db *txn.DB) ([]string, error) {
	var out []string
	for from := ""; ; {
		notes, next, err := db.Notifications(ctx, from, 1000)
		if err != nil {
			return nil, err
		}
		for _, n := range notes {
			out = append(out, fmt.Sprintf("wake %s at %s", n.Observer, formatRow(n.Cell.Group, n.Cell.Row)))
		}
		if next == "" {
			slices.Sort(out)
			return out, nil
		}
		from = next
	}
}

func format(group, row string, c txn.Version) (string, error) {
	value, err := formatValue(txn.Column{Group: group, Name: c.Name}, c.Data)
	line := fmt.Sprintf("%s:%s %s", group, c.Name, formatRow(group, row))
	if value != "" {
		line += ": " + value
	}
	return line, err
}

func formatRow(group, row string) string {
	switch group {
	case schema.GroupIndex, schema.GroupChoice, schema.GroupSummary, schema.GroupMember:
		if k, err := schema.ParseClusterRow(row); err == nil {
			return formatKey(k)
		}
		if k, m, err := schema.ParseMemberRow(row); err == nil {
			class := [...]string{"eligible, https", "eligible", "no"}[row[32]]
			return fmt.Sprintf("%s %s (%s)", formatKey(k), Short(m.URL), class)
		}
	case schema.GroupPointer, schema.GroupLink, schema.GroupNeed:
		if target, source, err := schema.ParsePairRow(row); err == nil {
			return Short(source) + " -> " + Short(target)
		}
	default:
		if u, err := schema.ParseURLRow(row); err == nil {
			return Short(u)
		}
	}
	return fmt.Sprintf("%q", row)
}

func formatKey(k page.ContentKey) string { return "#" + k.String()[:6] }

func formatTime(t time.Time) string { return t.Sub(epoch).String() }

// formatters format the values of columns.
var formatters = map[txn.Column]func([]byte) (string, error){
	schema.FetchTime: func(b []byte) (string, error) {
		s, err := schema.DecodeFetchStamp(b)
		return fmt.Sprintf("%s body %x", formatTime(s.Time), s.Sum[:3]), err
	},
	schema.FetchContent: func(b []byte) (string, error) {
		f, sum, err := schema.DecodeContent(b)
		return fmt.Sprintf("status %d body %x %v", f.Status, sum[:3], f.Header), err
	},
	schema.FetchSeen: func(b []byte) (string, error) {
		t, err := schema.DecodeTime(b)
		return formatTime(t), err
	},
	schema.FetchFailure: func(b []byte) (string, error) {
		f, err := schema.DecodeFailure(b)
		return fmt.Sprintf("%s status %d, %s", formatTime(f.Time), f.Status, f.Reason), err
	},
	schema.Body: func(b []byte) (string, error) {
		body, err := schema.DecodeBody(b)
		return fmt.Sprintf("%d bytes", len(body)), err
	},
	schema.Icon:        formatIcon,
	schema.SquareImage: formatIcon,
	schema.IconImage:   func(b []byte) (string, error) { return fmt.Sprintf("%d bytes", len(b)), nil },
	schema.Text: func(b []byte) (string, error) {
		t, err := schema.DecodeText(b)
		return fmt.Sprintf("%q %q %.12q", t.Title, t.Language, t.Text), err
	},
	schema.Links:     formatLinks,
	schema.Inverted:  formatLinks,
	schema.Inverting: formatLinks,
	schema.Inversion: func(b []byte) (string, error) {
		s, err := schema.DecodeInversion(b)
		return fmt.Sprintf("old links from part %d, %d; new ones from part %d, %d", s.Old.Part, s.Old.Index, s.Now.Part, s.Now.Index), err
	},
	schema.State: func(b []byte) (string, error) {
		s, err := schema.DecodeURLState(b)
		return formatState(s), err
	},
	schema.Chain: func(b []byte) (string, error) {
		chain, err := schema.DecodeChain(b)
		return formatChain(chain), err
	},
	schema.Propagated: func(b []byte) (string, error) {
		s, err := schema.DecodePropagation(b)
		return "go on at " + formatRow(schema.GroupPointer, s.Next), err
	},
	schema.Pending: formatURLs,
	schema.Frames:  formatURLs,
	schema.Anchors: func(b []byte) (string, error) {
		anchors, err := schema.DecodeAnchors(b)
		return fmt.Sprintf("%q", anchors), err
	},
	schema.Indexed: func(b []byte) (string, error) {
		d, err := schema.DecodeIndexed(b)
		return fmt.Sprintf("%s, %d members, %d inlinks", Short(d.URL), d.Members, d.Inlinks), err
	},
	schema.RankState: func(b []byte) (string, error) {
		m, err := schema.DecodeRankState(b)
		return fmt.Sprintf("rank %.4g of %d inlinks with %.4g, %.4g to %d edges", m.Rank, m.Inlinks, m.In, m.Pushed, m.Out), err
	},
	schema.Edges: func(b []byte) (string, error) {
		e, _, err := schema.DecodeEdgePart(b)
		list := make([]string, len(e.Targets))
		for i, row := range e.Targets {
			list[i] = formatRow(schema.GroupRank, row)
		}
		return strings.Join(list, " "), err
	},
	schema.RankJournal: func(b []byte) (string, error) {
		j, err := schema.DecodeJournal(b)
		return fmt.Sprintf("%d of %d parts left", j.Parts-j.Next, j.Parts), err
	},
	schema.RankPart: func(b []byte) (string, error) {
		list, err := schema.DecodeRankPart(b)
		return fmt.Sprintf("%d rank states", len(list)), err
	},
	schema.Choice: func(b []byte) (string, error) {
		c, err := schema.DecodeChoice(b)
		return Short(c.URL), err
	},
	schema.Summary: func(b []byte) (string, error) {
		s, err := schema.DecodeSummary(b)
		if s.Incomplete {
			return "not read", err
		}
		return fmt.Sprintf("%d members with rank %.4g, %d without inlinks, others up to %.4g and %.4g", s.Members, s.Rank, s.Unlinked, s.First, s.Second), err
	},
	schema.RankTolerance: func(b []byte) (string, error) {
		t, err := schema.DecodeTolerance(b)
		return fmt.Sprint(t), err
	},
	schema.Pointer: func([]byte) (string, error) { return "", nil },
	schema.Member:  func([]byte) (string, error) { return "", nil },
}

func formatValue(c txn.Column, b []byte) (string, error) {
	c.Name, _, _ = strings.Cut(c.Name, "/") // further parts are like the first
	if format, ok := formatters[c]; ok {
		return format(b)
	}
	return fmt.Sprintf("%q", b), nil
}

func formatURLs(b []byte) (string, error) {
	urls, err := schema.DecodeURLs(b)
	list := make([]string, len(urls))
	for i, u := range urls {
		list[i] = Short(u)
	}
	return strings.Join(list, " "), err
}

func formatLinks(b []byte) (string, error) {
	groups, _, err := schema.DecodeLinkPart(b)
	list := make([]string, len(groups))
	for i, g := range groups {
		list[i] = fmt.Sprintf("%s %q", Short(g.Target), g.Anchors)
	}
	return strings.Join(list, ", "), err
}

func formatState(s schema.URLState) string {
	out := s.Outcome.String()
	if s.Outcome == page.Page {
		out += " " + formatKey(s.Key)
	}
	if s.NoIndex {
		out += " noindex"
	}
	if s.NoFollow {
		out += " nofollow"
	}
	if s.Target != "" {
		out += " to " + Short(s.Target)
	}
	return out
}

func formatChain(chain schema.StoredChain) string {
	hops := make([]string, len(chain))
	for i, h := range chain {
		hops[i] = fmt.Sprintf("%s (%s)", Short(h.URL), formatState(schema.URLState{Outcome: h.Outcome, NoIndex: h.NoIndex, Key: h.Key}))
	}
	if len(hops) == 0 {
		return "nowhere"
	}
	return strings.Join(hops, " > ")
}

func formatIcon(b []byte) (string, error) {
	sum, err := schema.DecodeIcon(b)
	return fmt.Sprintf("%x", sum[:3]), err
}
