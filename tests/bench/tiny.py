#!/usr/bin/env python3
"""bench/run measures every language: a moment of each, with Prometheus as the only peer, from build/release. All points must be counted, and
answers must agree, or a part fails. The last line reads "N passed, N failed"."""
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "build/bench-look/RESULTS.md"
SECONDS_MAX = 900
LANGUAGES = ["Prometheus remote write", "Graphite's lines", "Graphite's pickles", "InfluxDB's lines, version 2, gzip", "OTLP, protobuf", "OTLP, JSON",
             "CSV import", "CSV export"]


def main():
    (PAGE.parent / "results/languages.json").unlink(missing_ok=True)
    done = subprocess.run([ROOT / "bench/run", "--tiny", "--no-build", "--skip", "VictoriaMetrics,InfluxDB,OpenTSDB", "languages"],
                          capture_output=True, text=True, check=False, timeout=SECONDS_MAX)
    page = PAGE.read_text() if PAGE.exists() else ""
    verdicts = {"bench/run ends well": done.returncode == 0, "remote read has Prometheus beside it": "| remote read | Hourglass, median / p99, processor | Prometheus |" in page,
                **{f"{name} has a row": f"| {name}" in page for name in LANGUAGES}}
    for what, holds in verdicts.items():
        if not holds:
            print(f"FAIL {what}")
    failed = list(verdicts.values()).count(False)
    if failed:
        print(done.stdout[-2000:] + done.stderr[-2000:])
    print(f"{len(verdicts) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
