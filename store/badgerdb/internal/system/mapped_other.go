//go:build !linux

package system

// MappedResident is not known here, so nothing is unmapped.
func MappedResident() (n int64, known bool) { return 0, false }

// Mappings are not known here.
func Mappings() []Mapping { return nil }

// Unmap does nothing here.
func (m Mapping) Unmap() bool { return false }
