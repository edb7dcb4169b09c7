#!/usr/bin/env python3
"""Runs the PromQL cases of Prometheus itself over the evaluator of Hourglass.

    upstream.py build/release/promql_cases [--files FOLDER] [--verbose]

The files are the folder promql/promqltest/testdata of the Go module github.com/prometheus/prometheus. Go downloads them, or takes
them from its cache. Without Go or without the module the suite is skipped. A case that needs what docs/promql.md excludes counts
as excluded. Other cases that fail must be listed below with a reason, and each listed case must fail. The last line reads
"N passed, N failed".
"""
import argparse
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

MODULE = "github.com/prometheus/prometheus"
VERSION = "v0.316.0"
SKIPPED = 77

DELAYED = "expects the feature flag promql-delayed-name-removal"
NAMES = "expects unquoted UTF-8 names, which are behind a feature flag"
# {file: (reason, lines)}
EXCEPTIONS = {
    "name_label_dropping.test": (DELAYED, {59, 64, 69, 74, 89, 115, 119, 123}),
    "operators.test": (DELAYED, {997}),
    "unquoted_utf8_names.test": (NAMES, {5, 13, 16, 19, 22, 26, 30, 33, 36, 39, 43, 47, 50, 53, 56, 60, 64, 68, 85, 88, 91, 94, 97, 100, 114, 121}),
}


def download():
    """The folder with the files, or None and the reason."""
    if shutil.which("go") is None:
        return None, "there is no program go"
    try:
        done = subprocess.run(["go", "mod", "download", "-json", f"{MODULE}@{VERSION}"], capture_output=True, text=True, cwd="/",
                              timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return None, "go mod download did not end within 300 s"
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return None, f"go mod download: {(done.stderr or done.stdout).strip()[:200]}"
    if "Dir" not in answer:
        return None, f"go mod download: {answer.get('Error', 'no folder')[:200]}"
    return Path(answer["Dir"], "promql", "promqltest", "testdata"), None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="promql_cases")
    parser.add_argument("--files", type=Path, help="a folder with the files; nothing is downloaded")
    parser.add_argument("--verbose", action="store_true", help="print excluded cases, too")
    args = parser.parse_args()
    folder, why = (args.files, None) if args.files else download()
    if folder is None:
        print(f"skipped: the PromQL cases of Prometheus {VERSION}: {why}")
        return SKIPPED
    files = sorted(folder.glob("*.test"))
    done = subprocess.run([args.program, *files], capture_output=True, text=True, timeout=600, check=False)
    if done.returncode not in (0, 1) or not files:
        print(f"FAIL {args.program}: exit status {done.returncode}, {done.stderr[:500]}")
        return 1
    totals, failed, reasons = Counter(), 0, Counter()
    seen = {name: set() for name in EXCEPTIONS}
    rows = []
    for line in done.stdout.splitlines():
        kind, path, *rest = line.split("\t")
        name = Path(path).name
        if kind == "counts":
            rows.append([name, *map(int, rest)])
            continue
        number, command, reason = int(rest[0]), rest[1], rest[2]
        why, lines = EXCEPTIONS.get(name, ("", {}))
        if kind == "failed" and number in lines:
            seen[name].add(number)
            reasons[why] += 1
            continue
        if kind == "failed":
            failed += 1
            print(f"FAIL {name}:{number}: {command}: {reason}")
            continue
        reasons[reason.split("parse error: ")[-1]] += 1
        if args.verbose:
            print(f"excluded {name}:{number}: {command}: {reason}")
    for name, (why, lines) in EXCEPTIONS.items():
        for number in sorted(set(lines) - seen[name]):
            failed += 1
            print(f"FAIL {name}:{number}: listed as an exception ({why}), but it does not fail")
    print(f"{'file':32} passed excluded failed")
    for name, passed, bad, excluded in rows:
        known = len(seen.get(name, ()))
        print(f"{name:32} {passed:6} {excluded + known:8} {bad - known:6}")
        totals["passed"] += passed
    print("\nexcluded cases by reason:")
    for reason, count in reasons.most_common():
        print(f"{count:6} {reason}")
    print(f"{totals['passed']} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
