"""Run cases by number, and note what came of each: ``python -m tests.hostile 0 10000 --log FILE``.

Cases that the log has already are skipped, so a run that was killed goes on. Two runs with
``--part 0/2`` and ``--part 1/2`` share the work.
"""

import argparse
import json
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.hostile.cases import run

parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
parser.add_argument("first", type=int)
parser.add_argument("stop", type=int, nargs="?", help="default: the first alone")
parser.add_argument("--log", type=Path)
parser.add_argument("--part", default="0/1", help="for example 1/2")
chosen = parser.parse_args()
part, parts = map(int, chosen.part.split("/"))
stop = chosen.first + 1 if chosen.stop is None else chosen.stop
done = set()
if chosen.log is not None and chosen.log.exists():
    done = {json.loads(line)["case"] for line in chosen.log.read_text().splitlines()}
kinds, failures = Counter(), []
for number in range(chosen.first, stop):
    if number in done or number % parts != part:
        continue
    started = time.process_time()
    try:
        outcome = run(number)
        kinds[outcome.partition(":")[0]] += 1
    except Exception as error:
        outcome = f"FAILED: {type(error).__name__}: {str(error)[:300]}"
        failures.append(number)
        traceback.print_exc()
    row = {"case": number, "outcome": outcome, "seconds": round(time.process_time() - started, 2)}
    if chosen.log is None:
        print(row)
    else:
        with chosen.log.open("a") as log:
            print(json.dumps(row), file=log)
print(dict(kinds), "failures:", failures)
raise SystemExit(bool(failures))
