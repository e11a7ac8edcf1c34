package control

import "testing"

// TestWithoutPasswords: an error that names a process shows no password of its command line.
func TestWithoutPasswords(t *testing.T) {
	for command, want := range map[string]string{
		"indexer crawl --data ./data":                                    "indexer crawl --data ./data",
		"indexer worker --store postgres://u:s3cret@db.example/web -v":   "indexer worker --store postgres://u:xxxxx@db.example/web -v",
		"indexer --store=postgres://u:a@b/c@db.example/web?x=1 worker":   "indexer --store=postgres://u:xxxxx@db.example/web?x=1 worker",
		"indexer --store postgres://db/web?user=u&password=s3cret&a=b x": "indexer --store postgres://db/web?user=u&password=xxxxx&a=b x",
		"indexer crawl --proxy socks5://:s3cret@p.example:1080":          "indexer crawl --proxy socks5://:xxxxx@p.example:1080",
		"indexer crawl https://a.example:8080/ mailto@b.example":         "indexer crawl https://a.example:8080/ mailto@b.example",
		"indexer worker --oracle 127.0.0.1:7071":                         "indexer worker --oracle 127.0.0.1:7071",
	} {
		if got := withoutPasswords(command); got != want {
			t.Errorf("%s\n%s, want\n%s", command, got, want)
		}
	}
}
