package robots

import "strings"

type recordKind uint8

const (
	unknownRecord recordKind = iota
	userAgentRecord
	allowRecord
	disallowRecord
	crawlDelayRecord
	sitemapRecord
)

// recordNames are the field names in lower case, with the misspellings that
// Google's and crawler-commons' parsers have found common.
var recordNames = map[string]recordKind{
	"user-agent": userAgentRecord,
	"useragent":  userAgentRecord,
	"user agent": userAgentRecord,
	"user_agent": userAgentRecord,
	"useg-agent": userAgentRecord,

	"allow": allowRecord,

	"disallow":  disallowRecord,
	"dissallow": disallowRecord,
	"dissalow":  disallowRecord,
	"disalow":   disallowRecord,
	"diasllow":  disallowRecord,
	"disallaw":  disallowRecord,
	"desallow":  disallowRecord,

	"crawl-delay": crawlDelayRecord,
	"crawldelay":  crawlDelayRecord,
	"crawl delay": crawlDelayRecord,

	"sitemap":  sitemapRecord,
	"sitemaps": sitemapRecord,
	"site-map": sitemapRecord,
}

const longestRecordName = len("crawl-delay")

func kindOf(name string) recordKind {
	if len(name) > longestRecordName {
		return unknownRecord
	}
	return recordNames[strings.ToLower(name)]
}
