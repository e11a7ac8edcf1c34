package warc

// Bounds that an Options value of zero stands for, and those that are fixed.
const (
	// DefaultMaxBody is the largest body that is read, in bytes.
	DefaultMaxBody = 32 << 20
	// DefaultMaxProblems is how many problems are kept.
	DefaultMaxProblems = 100

	// maxHeader bounds a record header and an HTTP header, each. Long data: URLs
	// make record headers of a megabyte; nothing honest is longer than this.
	maxHeader = 2 << 20
)

// Options says how a Reader reads. The zero value is ready to use.
type Options struct {
	// MaxBody bounds a record's block and the body decoded from it, in bytes;
	// 0 is DefaultMaxBody. A longer one gives a fetch with Err.
	MaxBody int64
	// MaxProblems bounds how many problems Reader.Problems holds; 0 is
	// DefaultMaxProblems. Stats counts all of them.
	MaxProblems int
	// OnProblem, if not nil, is called with each problem as it is found, from
	// within Next.
	OnProblem func(Problem)
	// NoDigests leaves the digests of records unchecked.
	NoDigests bool
}

func (o Options) withDefaults() Options {
	if o.MaxBody <= 0 {
		o.MaxBody = DefaultMaxBody
	}
	if o.MaxProblems <= 0 {
		o.MaxProblems = DefaultMaxProblems
	}
	return o
}
