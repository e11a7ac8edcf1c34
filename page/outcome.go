package page

// Outcome is what a fetch says of its URL (semantics.md section 2).
type Outcome uint8

// The outcomes. The numbers are stored: never reuse one.
const (
	// Unfetched: no fetch that counts is known.
	Unfetched Outcome = 0
	// Page: 2xx with an HTML or plain-text body.
	Page Outcome = 1
	// Redirect: 301, 302, 303, 307 or 308 with a Location, or an HTML page whose
	// meta refresh has a delay of 0 and a URL.
	Redirect Outcome = 2
	// Gone: 404 or 410.
	Gone Outcome = 3
	// Failed: any other status, a network error, an unreadable body. What an
	// earlier fetch said stays in force.
	Failed Outcome = 4
	// Other: 2xx of another media type, and robots.txt.
	Other Outcome = 5
)

var outcomeNames = [...]string{"unfetched", "page", "redirect", "gone", "failed", "other"}

// String is the name used in JSON and on the command line.
func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return "invalid"
}
