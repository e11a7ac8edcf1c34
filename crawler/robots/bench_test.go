package robots

import (
	"fmt"
	"strings"
	"testing"

	"github.com/webindexer/indexer/page"
)

// fullFile is a file of the greatest size, one group for everyone.
func fullFile(rule func(i int) string) []byte {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := 0; ; i++ {
		r := rule(i)
		if b.Len()+len(r) > DefaultMaxBytes {
			return []byte(b.String())
		}
		b.WriteString(r)
	}
}

func plainRule(i int) string {
	return fmt.Sprintf("Disallow: /shop/category-%d/items\n", i*7919%100_000)
}

// starRule almost matches everywhere in a path of many a.
func starRule(i int) string { return fmt.Sprintf("Disallow: /*aaaaaaab%d\n", i) }

// rules are n lines of a file.
func rules(n int, rule func(i int) string) []byte {
	var b strings.Builder
	b.WriteString("User-agent: *\n")
	for i := range n {
		b.WriteString(rule(i))
	}
	return []byte(b.String())
}

func BenchmarkParse500KiB(b *testing.B) {
	body := fullFile(plainRule)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		Parse(body)
	}
}

func BenchmarkParseAndGroup500KiB(b *testing.B) {
	body := fullFile(plainRule)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		Parse(body).Group("indexer")
	}
}

func benchmarkAllowed(b *testing.B, body []byte, url page.URL) {
	group := Parse(body).Group("indexer")
	b.ReportMetric(float64(len(group.rules)), "rules")
	b.ReportAllocs()
	for b.Loop() {
		group.Allowed(url)
	}
}

func BenchmarkAllowed(b *testing.B) {
	mixed := func(i int) string {
		if i%10 == 0 {
			return fmt.Sprintf("Disallow: /*session%d=\n", i)
		}
		return plainRule(i)
	}
	long := page.URL("https://example.com/" + strings.Repeat("a", page.MaxURLLength-30))
	b.Run("20Rules", func(b *testing.B) {
		benchmarkAllowed(b, rules(20, mixed), "https://example.com/shop/category-99/items/1?page=2")
	})
	b.Run("10kRules", func(b *testing.B) {
		benchmarkAllowed(b, rules(10_000, plainRule), "https://example.com/shop/category-99/items/1?page=2")
	})
	b.Run("10kRules1kWildcards", func(b *testing.B) {
		benchmarkAllowed(b, rules(10_000, mixed), "https://example.com/shop/category-99x/items/1?page=2")
	})
	b.Run("WorstFileLongestURL", func(b *testing.B) {
		benchmarkAllowed(b, fullFile(starRule), long)
	})
}
