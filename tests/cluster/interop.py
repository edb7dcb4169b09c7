#!/usr/bin/env python3
"""OpenTSDB 2.4.1 and Hourglass on the same tables of a real HBase.

    ../testbed/testbed run -- interop.py [--only TEXT] [--jobs 2]      needs HOURGLASS_TSDB, the program

Each suite's set-up (tests/compat/conformance) is written by OpenTSDB and its cases are answered by Hourglass, then the other way
round; both times answers are those that were recorded, and the cells that the two wrote are the same. Then both give ids
to new names at once. The last line reads "N passed, N failed".
"""
import argparse
import concurrent.futures
import json
import os
import random
import sys
import threading
import time
import types

import bed
import conformance

# Covers values of every width, seconds and milliseconds, salt, appends, duplicates, annotations, histograms, rollups, trees and metadata.
SUITES = ["smoke", "schema-ints", "schema-floats", "schema-floats-mixed", "schema-time", "schema-order", "schema-append",
          "schema-duplicates-fixed", "schema-annotations", "schema-annotations-salted", "schema-histograms",
          "schema-rollups", "schema-rollups-salted", "schema-tree", "schema-meta-realtime", "schema-salt-1x20",
          "schema-names-special"]
CLIENTS = 8
NAMES = 60


class Result:
    """The result of several threads together."""

    def __init__(self):
        self.passed = self.failed = 0
        self.lock = threading.Lock()

    def add(self, name, why):
        with self.lock:
            if why is None:
                self.passed += 1
            else:
                self.failed += 1
                print(f"FAIL {name}\n     {why}", flush=True)


def load_suite(name):
    return json.loads((bed.HERE.parent / "compat/conformance/suites" / f"{name}.json").read_text())


def cells_of(suite, suffix):
    tables = sorted({line.split("\t", 1)[0] for line in cells_file(suite).read_text().splitlines() if line})
    lines = bed.testbed("dump", *tables, f"--suffix={suffix}").splitlines()
    # The table's name stays in front; "created" in metadata is replaced, because it comes from the clock.
    return conformance.folded({conformance.blank_created(line) for line in lines})


def unsettled_rows(cells):
    """Rows with two points at one time. OpenTSDB resolves them when it stops, Hourglass when a query reads them."""
    rows = {}
    for line in cells:
        table, row, family, qualifier, value = line.split("\t")
        if family == "t" and len(qualifier) % 4 == 0:
            rows.setdefault((table, row), []).append((bytes.fromhex(qualifier), bytes.fromhex(value)))
    return {key for key, of_row in rows.items() if conformance.fold(of_row) is None}


def cells_file(suite):
    return bed.HERE.parent / "compat/conformance/cells" / f"{suite['suite']}.tsv"


def one_by_one(suite):
    """Its puts answered when they are stored: those that OpenTSDB sends together have one time, and which of two values of
    an instant is the later is lost. It puts series into trees behind its answers: its pauses are longer."""
    setup = [{**step, "path": step["path"] + "?sync"} if step.get("path") == "/api/put" else
             {"wait": step["wait"] * 4} if "wait" in step else step for step in suite["setup"]]
    return {**suite, "setup": setup}


def wait_until_stored(suffix):
    """OpenTSDB answers before it stores: waits until the table of points has not changed for a while."""
    before, now = None, bed.testbed("dump", "tsdb", f"--suffix={suffix}")
    while before != now:
        time.sleep(2)
        before, now = now, bed.testbed("dump", "tsdb", f"--suffix={suffix}")


def warm(port, suite):
    """Queries a fresh OpenTSDB first: until it has learned names it omits leaves from branches (seen with its own trees, too)."""
    for case in suite["cases"]:
        if case.get("pure", True):
            conformance.call(port, case["request"])


def between(suite, number, java_writes, result):
    """One daemon writes the set-up, the other answers the cases; returns the cells after the set-up."""
    suffix = f"-{os.getpid()}-{number}{'j' if java_writes else 'h'}"
    name = f"{suite['suite']}, written by {'OpenTSDB' if java_writes else 'Hourglass'}"
    java = bed.OpenTsdb(suffix[1:], suite["config"], suffix)
    ours = bed.Hourglass(suite["config"], suffix)
    try:
        if java_writes:
            conformance.run_setup(java.port, one_by_one(suite))
            wait_until_stored(suffix)
            java.stop()
            ours.start()
        else:
            java.stop()
            ours.start()
            conformance.run_setup(ours.port, suite)
            ours.stop()
        cells = cells_of(suite, suffix) if cells_file(suite).exists() else None
        if not java_writes:
            bed.testbed("start", java.part)
            warm(java.port, suite)
        answering = types.SimpleNamespace(port=ours.port if java_writes else java.port)
        for case, why, _ in conformance.run_cases(answering, suite, argparse.Namespace(case=None)):
            result.add(f"{name}: {case}", why)
        return cells
    finally:
        if ours.process is not None:
            ours.stop()
        bed.testbed("stop", java.part)
        bed.testbed("drop", f"--suffix={suffix}")


def both_ways(name, number, result):
    suite = load_suite(name)
    try:
        theirs = between(suite, number, True, result)
        ours = between(suite, number, False, result)
        if theirs is not None:
            left_out = unsettled_rows(theirs) | unsettled_rows(ours)
            theirs, ours = ({line for line in side if tuple(line.split("\t")[:2]) not in left_out}
                            for side in (theirs, ours))
            differing = sorted(theirs ^ ours)
            result.add(f"{name}: cells", None if not differing else
                       f"{len(theirs - ours)} only of OpenTSDB, {len(ours - theirs)} only of Hourglass: {differing[:2]}")
    except Exception as error:
        result.add(f"{name}: run", f"{type(error).__name__}: {error}")


def ids_at_once(result):
    """Eight clients, half of them on each daemon, create the same new names, each in a different order."""
    suffix = f"-{os.getpid()}-ids"
    config = {"tsd.core.auto_create_metrics": "true"}
    java = bed.OpenTsdb(suffix[1:], config, suffix)
    ours = bed.Hourglass(config, suffix)
    ours.start()

    def assign(client):
        names = [f"name.{i}" for i in range(NAMES)]
        random.Random(client).shuffle(names)
        answers = []
        for name in names:
            body = {kind: [name] for kind in ("metric", "tagk", "tagv")}
            port = (java if client % 2 else ours).port
            answers.append(conformance.http_call(port, {"method": "POST", "path": "/api/uid/assign", "body": body}))
        return answers

    try:
        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            answers = [answer for some in pool.map(assign, range(CLIENTS)) for answer in some]
        bad = [answer for answer in answers if answer["status"] not in (200, 400)]
        result.add("ids at once: answers", None if not bad else str(bad[0])[:300])
        forward, reverse = {}, {}
        for line in bed.testbed("dump", "tsdb-uid", f"--suffix={suffix}").splitlines():
            _, row, family, kind, value = line.split("\t")
            if row != "00":
                (forward if family == "id" else reverse)[(kind, row)] = value
        for kind in (b"metrics", b"tagk", b"tagv"):
            ids = {row: value for (of, row), value in forward.items() if of == kind.hex()}
            twice = len(ids) - len(set(ids.values()))
            unlike = [row for row, value in ids.items() if reverse.get((kind.hex(), value)) != row]
            why = None if len(ids) == NAMES and not twice and not unlike else \
                f"{len(ids)} of {NAMES} names, {twice} ids given twice, {len(unlike)} without their reverse"
            result.add(f"ids at once: {kind.decode()}", why)
    finally:
        ours.stop()
        bed.testbed("stop", java.part)
        bed.testbed("drop", f"--suffix={suffix}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    only = args.only
    os.environ.setdefault("HOURGLASS_TSDB", str(bed.HERE.parent.parent / "build/release/tsdb"))
    result = Result()

    def work(number):
        both_ways(SUITES[number], number, result)
        print(f"{SUITES[number]}: {result.passed} so far, {result.failed} failed", flush=True)

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for _ in pool.map(work, [number for number, name in enumerate(SUITES) if only in name]):
            pass
    if only in "ids":
        ids_at_once(result)
    print(f"{result.passed} passed, {result.failed} failed")
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
