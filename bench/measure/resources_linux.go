package measure

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// Written is how many bytes the system has written to the disk for this process, or
// will. It leaves out files that were removed before they were written. It is 0 if the
// system does not tell.
func Written() int64 {
	fields, err := keyed("/proc/self/io")
	if err != nil {
		return 0
	}
	return fields["write_bytes"] - fields["cancelled_write_bytes"]
}

// resident is the memory that this process has in use now. It is zero if the system does
// not tell.
func resident() Memory {
	fields, err := keyed("/proc/self/status")
	if err != nil {
		return Memory{}
	}
	return Memory{Own: fields["RssAnon"] << 10, Mapped: (fields["RssFile"] + fields["RssShmem"]) << 10}
}

// keyed reads a file of lines such as "key: number unit", and skips those without a
// number.
func keyed(path string) (map[string]int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := map[string]int64{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		key, value, _ := strings.Cut(s.Text(), ":")
		if words := strings.Fields(value); len(words) > 0 {
			if n, err := strconv.ParseInt(words[0], 10, 64); err == nil {
				m[key] = n
			}
		}
	}
	return m, s.Err()
}
