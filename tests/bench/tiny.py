#!/usr/bin/env python3
"""bench/run measures every language, a moment of each with Prometheus as the only peer, series that come and go, and the shared store, from build/release; and it
compares a build with itself (--against). All points must be counted, and answers must agree, or a part fails. The last line reads "N passed, N failed"."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "build/bench-look/RESULTS.md"
SECONDS_MAX = 900
LANGUAGES = ["Prometheus remote write", "Graphite's lines", "Graphite's pickles", "InfluxDB's lines, version 2, gzip", "OTLP, protobuf", "OTLP, JSON",
             "CSV import", "CSV export"]
FIGURES = ["put 5000x4: points/s", "put 5000x4, synced: CPU-ns/point", "single-groupby-1-1-1, merged: µs", "PromQL, 8 series, an hour by minutes: µs",
           "CSV export: points/s", "10,000 series: B/series", "integers, walk at 10 s: B/point"]


def run(*words):
    return subprocess.run([ROOT / "bench/run", "--tiny", "--no-build", *words], capture_output=True, text=True, check=False, timeout=SECONDS_MAX)


def main():
    for part in ("languages", "churn", "shared"):
        (PAGE.parent / f"results/{part}.json").unlink(missing_ok=True)
    done = run("--skip", "VictoriaMetrics,InfluxDB,OpenTSDB", "languages", "churn", "shared")
    results = (ROOT / "bench/RESULTS.md").read_bytes()
    compared = run("--against", ROOT / "build/release/tsdb", "writes", "queries", "languages", "memory", "sizes")
    rows = compared.stdout.splitlines()
    page = PAGE.read_text() if PAGE.exists() else ""
    verdicts = {"bench/run ends well": done.returncode == 0, "the days of series that come and go have rows": "| 3 | 2,400 |" in page,
                "the shared store has rows": "| two daemons on a storage node |" in page, "remote read has Prometheus beside it": "| remote read | Hourglass, median / p99, processor | Prometheus |" in page,
                **{f"{name} has a row": f"| {name}" in page for name in LANGUAGES},
                "all parts compare two builds to their ends": "WORSE by more than 3 % and beyond the noise: " in compared.stdout and
                                                            "FAILED" not in compared.stdout,
                **{f"{name} is compared": any(row.startswith(name + " ") for row in rows) for name in FIGURES},
                "a comparison leaves RESULTS.md as it is": (ROOT / "bench/RESULTS.md").read_bytes() == results}
    for what, holds in verdicts.items():
        if not holds:
            print(f"FAIL {what}")
    failed = list(verdicts.values()).count(False)
    if failed:
        # The errors come first, because a log may be cut.
        for each in (done, compared):
            print(each.stderr[-4000:] + each.stdout[-2000:])
    print(f"{len(verdicts) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
