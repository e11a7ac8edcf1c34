package export

import (
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

// formats lists the tables of each format, the default first, and its file extension.
var formats = []struct {
	name   string
	tables []string
	suffix string
	binary bool
}{
	{FormatJSONL, []string{Documents, Links}, ".jsonl", false},
	{FormatParquet, []string{Documents, Links}, ".parquet", true},
	{FormatRanks, []string{Hosts}, ".txt", false},
	{FormatCDXJ, []string{Captures}, ".cdxj", false},
	{FormatCIFF, []string{Documents}, ".ciff", true},
	{FormatSimilar, []string{Pairs}, ".jsonl", false},
	{FormatWACZ, []string{Pages}, ".wacz", true},
}

// Choice is a format and one of its tables.
type Choice struct {
	Format string `json:"format"`
	Table  string `json:"table"`
}

// Choose checks a format and a table; "" selects the default. The error lists what is
// available.
func Choose(format, table string) (Choice, error) {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
		if f.name != format {
			continue
		}
		if table == "" {
			table = f.tables[0]
		}
		if !slices.Contains(f.tables, table) {
			return Choice{}, fmt.Errorf("%s has no table %q: choose %s", format, table, strings.Join(f.tables, ", "))
		}
		return Choice{format, table}, nil
	}
	return Choice{}, fmt.Errorf("unknown format %q: choose %s", format, strings.Join(names, ", "))
}

// FileName is the default name of the file in a directory.
func (c Choice) FileName() string {
	for _, f := range formats {
		if f.name == c.Format {
			return c.Table + f.suffix
		}
	}
	return c.Table
}

// IsBinary reports whether the format is binary, so that it should not go to a terminal.
func (c Choice) IsBinary() bool {
	for _, f := range formats {
		if f.name == c.Format {
			return f.binary
		}
	}
	return false
}
