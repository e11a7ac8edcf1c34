package index

const crashDirEnv = "INDEX_CRASH_TEST_DIR"

func crashChild(string) int { return 0 }
