#!/usr/bin/env python3
"""The same random data and requests to a live OpenTSDB 2.4.1 and to Hourglass: answers and stored cells must be equal.

    differential.py live [--seed 1] [--kinds TEXT,…] [--count 400] [--cells] [--record FILE]
    differential.py near [--seed 1] [--suites TEXT] [--share 1.5] [--cells]
    differential.py replay [--tsdb build/release/tsdb] [FILE]

live    sessions made from nothing (sessions.py): for each kind of data and settings --count requests
near    the recorded suites of ../conformance, each with its settings and data, and requests near its own (mutate.py):
        --share for each recorded one
replay  what `live --record` wrote, without Java: what ./test runs

live and near need a test bed: tests/testbed/testbed up, or --testbed COMMAND and TESTBED_DIR. Each session has
tables and a daemon of its own there. A difference prints the smallest request, and the fewest points, that show it.
The last line reads "N passed, N failed"; what OpenTSDB left unanswered is counted beside it.
"""

import argparse
import concurrent.futures
import json
import os
import re
import sys
import time
from pathlib import Path

import judge
import sessions
import shrink
import sides
from mutate import Mutator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SUITES = HERE.parent / "conformance" / "suites"
SAMPLE = HERE / "sample.json"

# Budgets count what OpenTSDB happens to have compacted, random ids are random, malformed chunks end a connection, and
# without /api/version the test bed cannot tell that OpenTSDB is up.
LEFT_OUT = (
    "query-config-batch",
    "query-config-bytes",
    "query-config-override",
    "query-config-points",
    "http-random-uids",
    "http-chunk",
    "http-mode-noapi",
)
WRITES = re.compile(
    r"/api/(v\d/)?(put|rollup|histogram|annotation|uid/(uidmeta|tsmeta|assign|rename)|tree)|delete", re.IGNORECASE
)
SETTLED_S, WRITTEN_S, DELETED_S = 1.5, 0.08, 1.0


def near_sessions(args):
    suites = [json.loads(p.read_text()) for p in sorted(SUITES.glob("*.json"))]
    everything = [c["request"] for s in suites for c in s["cases"]]
    for suite in suites:
        name = suite["suite"]
        if args.suites not in name or name.startswith(LEFT_OUT) or suite.get("cells_in") or not suite["cases"]:
            continue
        own = [c["request"] for c in suite["cases"]]
        mutator = Mutator(f"{args.seed}{name}", own, everything)
        count = int(min(500, max(40, len(own) * args.share)))
        yield {
            "name": name,
            "config": suite["config"],
            "setup": [synced(step) for step in suite["setup"]],
            "requests": [mutator.request() for _ in range(count)],
        }


def synced(step):
    """Waits until the step is stored before the next one starts, so that of two points at one time the later write wins on both sides."""
    return {**step, "path": "/api/put?sync"} if step.get("path") == "/api/put" else step


def fresh_sessions(args):
    for kind in sessions.KINDS:
        if any(kind == text if text in sessions.KINDS else text in kind for text in args.kinds.split(",")):
            yield sessions.session(kind, args.seed, args.count)


def writes(request):
    if request.get("method") == "GET" and not re.search("override|assign|rename", request["path"]):
        return False
    return "telnet" in request or WRITES.search(json.dumps(request)) is not None


def paced(requests, block=25):
    """OpenTSDB answers before it has stored: writes come together, each with a moment for the ids it may assign, then
    a pause, then what reads."""
    out = []
    for at in range(0, len(requests), block):
        some = requests[at : at + block]
        first = [r for r in some if writes(r)]
        for request in first:
            out += [request, {"wait": DELETED_S if "delete" in json.dumps(request).lower() else WRITTEN_S}]
        out += ([{"wait": SETTLED_S}] if first else []) + [r for r in some if not writes(r)]
    return out


class Outcome:
    def __init__(self, session):
        self.session, self.found = session, []  # (request, reason)
        self.asked = self.unanswered = 0
        self.recorded = []  # (request, OpenTSDB's answer)


def compare(session, args):
    """Runs one session on both sides and compares."""
    config = {**session["config"], "tsd.storage.flush_interval": "5", "tsd.http.show_stack_trace": "false"}
    # Whether a row is compacted between two writes at one time depends on timing, so compaction is off unless the session asks for it.
    config.setdefault("tsd.storage.compaction.flush_interval", "86400")
    if args.cells:  # nor while it stops, which would leave a row in both forms
        config.setdefault("tsd.storage.enable_compaction", "false")
    tracking = config.get("tsd.core.meta.enable_tsuid_tracking") == "true"
    outcome = Outcome(session)
    theirs, ours = sides.pair(args.testbed, args.tsdb, config)
    try:
        sides.both(theirs, ours, [*session["setup"], {"wait": SETTLED_S}])
        requests = paced(session["requests"])
        for request, (want, got) in zip(requests, sides.both(theirs, ours, requests)):
            if "wait" in request:
                continue
            outcome.asked += 1
            outcome.unanswered += "lost" in want
            why = judge.differ(request, want, got, tracking)
            if why:
                outcome.found.append((request, why))
            elif "lost" not in want:
                outcome.recorded.append((request, want))
        if not ours.alive():
            outcome.found.append(({}, "Hourglass has ended"))
        elif args.shrink:
            outcome.found = smallest(outcome.found, session, theirs, ours, tracking)
        if args.cells:
            why = judge.cells_differ(theirs.dump(), ours.dump())
            if why:
                outcome.found.append(({"cells": session["name"]}, why))
    finally:
        theirs.close()
        ours.close()
    return outcome


SHRUNK_MAX = 8  # the number of differences per session that are shrunk; further ones mostly have the same cause


def smallest(found, session, theirs, ours, tracking):
    out, known = [], set()
    points = shrink.Data(
        [s["body"] for s in session["setup"] if s.get("path", "").startswith("/api/put") and "body" in s],
        theirs,
        ours,
        tracking,
    )
    for at, (request, why) in enumerate(found):
        if at < SHRUNK_MAX and not writes(request):
            request, why = shrink.shrunk(request, why, theirs, ours, tracking)
            left = points.smallest(request, why) if request.get("path", "").startswith("/api/query") else None
            why += f"\n     with these points alone: {json.dumps(left)}" if left else ""
        key = json.dumps(request)
        if key not in known:
            out.append((request, why))
        known.add(key)
    return out


def attempt(session, args):
    began = time.monotonic()
    try:
        outcome = compare(session, args)
    except (RuntimeError, OSError) as e:
        outcome = Outcome(session)
        outcome.found.append(({}, f"the session did not run: {e}"))
    return outcome, time.monotonic() - began


def live(wanted, args):
    passed = failed = unanswered = 0
    records = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for outcome, seconds in pool.map(lambda s: attempt(s, args), wanted):
            name = outcome.session["name"]
            print(f"{name}: {outcome.asked} requests, {len(outcome.found)} differ, {seconds:.0f} s", flush=True)
            for request, why in outcome.found:
                print(f"DIFFERS {name} {json.dumps(request)}\n     {why[:3000]}", flush=True)
            passed += outcome.asked - len(outcome.found)
            failed += len(outcome.found)
            unanswered += outcome.unanswered
            records.append(record(outcome))
    if getattr(args, "record", None):
        Path(args.record).write_text(
            "[\n" + ",\n".join(json.dumps(r, separators=(",", ":")) for r in records) + "\n]\n"
        )
    print(f"{unanswered} requests had no answer of OpenTSDB's")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def record(outcome):
    """What replay needs: the requests in the order in which they were sent, and OpenTSDB's answers; none where they hold
    the time of the recording."""
    answers = [
        None
        if judge.of_its_moment(a["body"])
        else {"status": a.get("status"), "type": a.get("headers", {}).get("content-type", ""), "body": a["body"]}
        for _, a in outcome.recorded
    ]
    session = outcome.session
    return {
        "name": session["name"],
        "config": session["config"],
        "setup": [s for s in session["setup"] if "wait" not in s],
        "requests": [r for r, _ in outcome.recorded],
        "answers": answers,
    }


def replay(args):
    passed = failed = 0
    for session in json.loads(Path(args.file).read_text()):
        ours = sides.Hourglass(args.tsdb, session["config"])
        try:
            for step in session["setup"]:
                sides.answer(ours.port, step)
            for request, want in zip(session["requests"], session["answers"]):
                if want is None:
                    sides.answer(ours.port, request)
                    continue
                answer = {"status": want["status"], "headers": {"content-type": want["type"]}, "body": want["body"]}
                why = judge.differ(
                    request,
                    answer,
                    sides.answer(ours.port, request),
                    session["config"].get("tsd.core.meta.enable_tsuid_tracking") == "true",
                )
                passed, failed = passed + (not why), failed + bool(why)
                if why:
                    print(f"FAIL {session['name']} {json.dumps(request)}\n     {why[:1500]}", flush=True)
        finally:
            ours.close()
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)

    def command(name):
        c = commands.add_parser(name)
        c.add_argument("--tsdb", default=str(ROOT / "build/release/tsdb"))
        return c

    for name in ("live", "near"):
        c = command(name)
        c.add_argument("--testbed", default=str(ROOT / "tests/testbed/testbed"))
        c.add_argument("--seed", default="1")
        c.add_argument("--jobs", type=int, default=2)
        c.add_argument("--cells", action="store_true", help="compare what is stored, too")
        c.add_argument("--no-shrink", dest="shrink", action="store_false")
    c.add_argument("--suites", default="", help="those whose name contains this")
    c.add_argument("--share", type=float, default=1.5)
    c = commands.choices["live"]
    c.add_argument("--kinds", default="", help="names, or parts of names of several, between commas")
    c.add_argument("--count", type=int, default=400)
    c.add_argument("--record")
    command("replay").add_argument("file", nargs="?", default=str(SAMPLE))
    args = parser.parse_args()
    args.tsdb = os.path.abspath(args.tsdb)
    if args.command == "replay":
        return replay(args)
    return live(fresh_sessions(args) if args.command == "live" else near_sessions(args), args)


if __name__ == "__main__":
    sys.exit(main())
