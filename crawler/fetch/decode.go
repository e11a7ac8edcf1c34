package fetch

import (
	"errors"
	"fmt"

	"indexer/internal/coding"
)

// decode removes content codings by the rules of package coding. The result may be
// payload itself.
func decode(payload []byte, codings []string, limit int64) ([]byte, error) {
	body, _, err := coding.Decode(payload, codings, limit)
	switch {
	case err == nil:
		return body, nil
	case errors.Is(err, coding.ErrTooLong):
		return nil, &failure{class: TooLarge, text: fmt.Sprintf("the decoded body is over %d bytes", limit)}
	case errors.Is(err, coding.ErrStacked):
		return nil, &failure{class: BadResponse, text: fmt.Sprintf("more than %d content codings", coding.MaxStacked)}
	}
	return nil, &failure{BadResponse, "the body does not decode", err}
}
