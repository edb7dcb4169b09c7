#!/usr/bin/env python3
"""Runs the recorded suites of OpenTSDB 2.4.1 (conformance/) against the program and holds what was reached.

    run.py [--tsdb build/release/tsdb] [--jobs 4] [--only TEXT] [--known FILE] [--raise]

reached.json has, for each suite and command line scenario, the number of cases that were answered as recorded. A
suite that falls below its number fails; --raise writes the numbers of this run where they are higher. --only runs the
suites whose name contains TEXT, --verbose shows both answers. The last line reads "N passed, N failed"; recorded
cases that were never reached are told beside it, by name, and do not count as failed. Cases that KNOWN.md names are
answered otherwise on purpose: they are told and not counted, and fail if they are answered as recorded; --known names
a second such file, of the program that is run.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.dont_write_bytecode = True
from daemon import turn_cpu_ms_max  # noqa: E402

HERE = Path(__file__).resolve().parent
RECORDED = HERE / "conformance"
REACHED = HERE / "reached.json"
KNOWN = HERE / "KNOWN.md"


def matching(folder, ending, only):
    return sorted(path for path in folder.glob("*" + ending) if only in path.name)


def commands(tsdb):
    """The options that both runners share: the commands that start the program and that dump and fill its tables."""
    return ["--start", f"{tsdb} tsd --config={{config}}", "--dump", f"{tsdb} dump --config={{config}} {{table}}",
            "--load", f"{tsdb} load --config={{config}}"]


def run_suites(files, tsdb, args):
    """Returns {suite: (passed, {case that differs: reason})}."""
    counts = collections.defaultdict(lambda: (0, {}))
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch, "suites.xml")
        command = [sys.executable, RECORDED / "conformance.py", *commands(tsdb), "--jobs", str(args.jobs), "--junit",
                   report] + (["--verbose"] if args.verbose else []) + files
        # The runner's own totals are not repeated; the numbers that count are printed below.
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as process:
            for line in process.stdout:
                if args.verbose and not re.match(r"\d+ passed, \d+ failed$", line):
                    print(line, end="", flush=True)
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            suite, name = case.get("name").split("/", 1)
            passed, differing = counts[suite]
            why = case.findtext("failure")
            counts[suite] = (passed + 1, differing) if why is None else (passed, {**differing, name: why})
    return counts


def run_scenario(path, tsdb):
    done = subprocess.run([sys.executable, RECORDED / "cli.py", "--tsdb", tsdb, *commands(tsdb), path],
                          capture_output=True, text=True, env=environment())
    totals = re.search(r"^(\d+) passed, (\d+) failed$", done.stdout, re.MULTILINE)
    if not totals:
        return 0, {"all of it": "the runner ended early: " + done.stderr[-300:]}
    return int(totals.group(1)), dict(re.findall(r"^FAIL [^/\n]+/(.+)\n     (.*)$", done.stdout, re.MULTILINE))


def known_cases(files):
    """Returns {suite: {case}} from the headings of these files."""
    known = collections.defaultdict(set)
    for file in files:
        for suite, case in re.findall(r"^## (\S+): (.+)$", file.read_text(), re.MULTILINE):
            known[suite].add(case)
    return known


def environment():
    return {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}  # nothing but the recorded files may be in conformance/


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--only", default="")
    parser.add_argument("--known", type=Path)
    parser.add_argument("--raise", dest="lift", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    tsdb = str(Path(args.tsdb).resolve())
    if not os.access(tsdb, os.X_OK):
        sys.exit(f"run.py: there is no program {args.tsdb}")

    os.environ.setdefault("HOURGLASS_TURN_CPU_MS_MAX", str(turn_cpu_ms_max(os.environ.get("HOURGLASS_TSDB", tsdb))))

    reached = json.loads(REACHED.read_text()) if REACHED.exists() else {}
    suites = matching(RECORDED / "suites", ".json", args.only)
    scenarios = matching(RECORDED / "cli", ".txt", args.only)
    print(f"{len(suites)} suites, {len(scenarios)} command line scenarios", flush=True)
    own = known_cases([args.known]) if args.known else collections.defaultdict(set)
    now = run_suites(suites, tsdb, args) if suites else {}
    fell = [path for path in suites if now[path.stem][0] < reached.get(path.stem, 0) - len(own[path.stem])]
    if fell:  # The recorded runner takes a second of silence for the end of a telnet response. A second run has the machine to itself.
        for suite, counts in run_suites(fell, tsdb, argparse.Namespace(**{**vars(args), "jobs": 1})).items():
            now[suite] = max(now[suite], counts, key=lambda each: each[0])
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for path, counts in zip(scenarios, pool.map(lambda path: run_scenario(path, tsdb), scenarios)):
            now["cli/" + path.stem] = counts

    passed = failed = open_cases = 0
    known = known_cases([KNOWN] + ([args.known] if args.known else []))
    for suite in sorted(set(now) | {name for name in reached if args.only in name}):
        count, differing = now.get(suite, (0, {"all of it": "not run"}))
        held = max(0, reached.get(suite, 0) - len(own[suite]))
        passed += count
        failed += max(0, held - count)
        for case in sorted(known[suite]) if suite in now else []:
            if differing.pop(case, None) is not None:
                print(f"known, see {KNOWN.name}: {suite}: {case}")
            else:
                failed += 1
                print(f"FALLEN {suite}: KNOWN.md names the case {case}, which is answered as recorded or does not exist")
        if count < held:
            print(f"FALLEN {suite}: {count} cases as recorded, {held} were reached before")
            for name, why in list(differing.items())[:8]:
                print(f"     {name}: {why}")
        elif differing:
            open_cases += len(differing)
            print(f"not reached yet in {suite}: {', '.join(list(differing)[:6])}"
                  + (f" and {len(differing) - 6} more" if len(differing) > 6 else ""))
        if args.lift:
            reached[suite] = max(held, count)
        elif count > held:
            print(f"{suite}: {count} as recorded, {held} held (--raise holds them)")
    if args.lift:
        REACHED.write_text(json.dumps(reached, indent=1, sort_keys=True) + "\n")
    if open_cases:
        print(f"{open_cases} recorded cases are not reached yet, named above")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
