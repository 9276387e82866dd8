"""``python -m tests.cluster.run_local FILE...``: a Ray cluster of this process's own; results go to standard output.

Chunks (0, 0) and (1, 1) were done before; two workers, a second for each record.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace

from sciextract.scale.interface import InputShard
from sciextract.scale.ray.engine import RayEngine
from sciextract.scale.shards import remaining_chunks
from tests.unit.scale.support import work_of

if __name__ == "__main__":
    shards = tuple(InputShard(number, (path,)) for number, path in enumerate(sys.argv[1:]))
    work = replace(work_of(sys.argv[1:], "poisoned"), shards=shards)
    fingerprints = {chunk.key: chunk.fingerprint for chunk in remaining_chunks(work, {})}
    done = {key: fingerprints[key] for key in [(0, 0), (1, 1)]}
    for result in RayEngine(2, timeout=1.0).results(work, done):
        lost = [[problem.kind, problem.record["id"]] for problem in result.problems]
        print(json.dumps([result.key, result.data.decode(), lost]), flush=True)
