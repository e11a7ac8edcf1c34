package export

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// The names of the formats.
const (
	FormatJSONL   = "jsonl"
	FormatParquet = "parquet"
	FormatRanks   = "ranks-csv"
	FormatCDXJ    = "cdxj"
	FormatCIFF    = "ciff"
	FormatSimilar = "similar"
	FormatWACZ    = "wacz"
)

// The tables.
const (
	Documents = "documents"
	Links     = "links"
	Hosts     = "hosts"
	Captures  = "captures"
	Pairs     = "pairs"
	Pages     = "pages"
)

// format has one or more tables, the default first.
type format struct {
	name   string
	tables []string
	suffix string // of files
	binary bool
}

var formats = []format{
	{FormatJSONL, []string{Documents, Links}, ".jsonl", false},
	{FormatParquet, []string{Documents, Links}, ".parquet", true},
	{FormatRanks, []string{Hosts}, ".txt", false},
	{FormatCDXJ, []string{Captures}, ".cdxj", false},
	{FormatCIFF, []string{Documents}, ".ciff", true},
	{FormatSimilar, []string{Pairs}, ".jsonl", false},
	{FormatWACZ, []string{Pages}, ".wacz", true},
}

// formatNamed returns the format with a name. If there is none, the tables of the result are nil.
func formatNamed(name string) format {
	for _, f := range formats {
		if f.name == name {
			return f
		}
	}
	return format{}
}

// Choice is a format and one of its tables.
type Choice struct {
	Format string `json:"format"`
	Table  string `json:"table"`
}

// Choose checks a format and a table. The table "" selects the default of the format. The
// error lists what is available.
func Choose(name, table string) (Choice, error) {
	f := formatNamed(name)
	if f.tables == nil {
		var names []string
		for _, f := range formats {
			names = append(names, f.name)
		}
		return Choice{}, fmt.Errorf("unknown format %q: choose %s", name, strings.Join(names, ", "))
	}
	if table = cmp.Or(table, f.tables[0]); !slices.Contains(f.tables, table) {
		return Choice{}, fmt.Errorf("%s has no table %q: choose %s", name, table, strings.Join(f.tables, ", "))
	}
	return Choice{name, table}, nil
}

// FileName returns the default name of the file in a directory.
func (c Choice) FileName() string { return c.Table + formatNamed(c.Format).suffix }

// IsBinary reports whether the format is binary, so that it should not go to a terminal.
func (c Choice) IsBinary() bool { return formatNamed(c.Format).binary }
