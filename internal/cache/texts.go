package cache

// Texts caches what is made of short texts, each of which is in a language. It is safe for
// concurrent use.
type Texts[T any] struct{ made *Cache[text, T] }

type text struct{ text, language string }

const (
	// textsSize bounds the texts of each generation, in bytes. The values computed from the names
	// of pages take three to eight times as much.
	textsSize = 2 << 20
	// textEntry is about what an entry takes in addition to its text.
	textEntry = 100
)

// NewTexts makes an empty cache.
func NewTexts[T any]() *Texts[T] { return &Texts[T]{New[text, T](textsSize)} }

// Get returns the result of make for a text, which has to be the same each time. Callers must not
// change it.
func (c *Texts[T]) Get(of, language string, make func(text, language string) (T, error)) (T, error) {
	key := text{of, language}
	if known, ok := c.made.Get(key); ok {
		return known, nil
	}
	made, err := make(of, language)
	if err == nil {
		c.made.Add(key, made, len(of)+textEntry)
	}
	return made, err
}
