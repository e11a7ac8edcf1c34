"""Checks a CDXJ index with the packages that web archives read theirs with."""

import json
import sys

import surt
from warcio.timeutils import timestamp_to_datetime

with open(sys.argv[1], "rb") as f:
    lines = f.read().splitlines()
if lines != sorted(lines):
    sys.exit("the lines are not in the order of their bytes")
for line in lines:
    key, stamp, fields = line.decode("ascii").split(" ", 2)
    capture = json.loads(fields)
    if surt.surt(capture["url"]) != key:
        sys.exit(f"{capture['url']} has the key {surt.surt(capture['url'])}, not {key}")
    timestamp_to_datetime(stamp)
    if not capture["status"].isdigit() or not capture["digest"].startswith("sha256:"):
        sys.exit(f"fields: {fields}")
print(f"{len(lines)} captures in order")
