# What python's jsonschema takes to judge the documents that bench_schema has written, json.loads
# included: python3 tests/bench/schema.py DIRECTORY. Processor time, best of three rounds.
import json, sys, time
from pathlib import Path

import jsonschema

for name in ["arguments", "response", "envelope", "hits"]:
    directory = Path(sys.argv[1])
    schema = json.loads((directory / f"{name}.schema.json").read_text())
    text = (directory / f"{name}.json").read_text()
    validator = jsonschema.validators.validator_for(schema)(schema)
    times = max(5, 200000 // (len(text) + 100))
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        for _ in range(times):
            assert validator.is_valid(json.loads(text))
        best = min(best, (time.process_time() - begin) / times * 1e6)
    print(f"{name}, {len(text)} B: {best:.1f} us (jsonschema)")
