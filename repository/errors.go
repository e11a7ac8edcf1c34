package repository

import "errors"

// ErrOtherIndex: the index files beside the store hold documents of another
// repository. Nothing is changed.
var ErrOtherIndex = errors.New("the index files belong to another repository")
