package crawltest

import "indexer/repository"

type document = repository.ExportedDocument

const childDir = "CRAWLTEST_CHILD_DIR"

func runChild() int { return 0 }
