"""Judges a report of the Autobahn test suite: prints the counts, and fails unless every case passed.

A case passes when the bridge's behaviour and its way of closing are OK or INFORMATIONAL; NON-STRICT is a
failure, and for compression (families 12 and 13) so is anything but OK.
"""

import collections
import json
import pathlib
import sys

COMPRESSION = (12, 13)


def number(case):
    return [int(part) for part in case.split(".")]


def passes(case, result):
    allowed = {"OK"} if number(case)[0] in COMPRESSION else {"OK", "INFORMATIONAL"}
    return result["behavior"] in allowed and result["behaviorClose"] in {"OK", "INFORMATIONAL"}


def summarize(agent, results):
    families = collections.defaultdict(collections.Counter)
    for case, result in results.items():
        families[number(case)[0]][result["behavior"]] += 1
    for family in sorted(families):
        counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(families[family].items()))
        print(f"  family {family:2}: {counts}")
    failed = sorted((case for case, result in results.items() if not passes(case, result)), key=number)
    for case in failed:
        result = results[case]
        print(f"  FAILED {case}: {result['behavior']}, close {result['behaviorClose']}")
    print(f"{agent}: {len(results) - len(failed)} of {len(results)} cases passed")
    return not failed


def main():
    path = pathlib.Path(sys.argv[1])
    if not path.exists():
        sys.exit(f"no report at {path}: the suite was never asked for one")
    agents = json.loads(path.read_text())
    verdicts = [summarize(agent, results) for agent, results in agents.items()]
    sys.exit(0 if verdicts and all(verdicts) else 1)


if __name__ == "__main__":
    main()
