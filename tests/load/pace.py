#!/usr/bin/env python3
"""Draws how work on files is spread over three hours of a store of twenty regions.

    pace.py [BUILD [OUT]]   BUILD: folder of embedded_pace_test (build/release); OUT: docs/compaction-pace.png

Runs the test, which counts flushes and merges in each minute of a clock of its own, and draws its numbers
(python3-matplotlib, installed by `setup/install soak`).
"""
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main(build=ROOT / "build/release", out=ROOT / "docs/compaction-pace.png"):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pace.csv"
        subprocess.run([Path(build) / "embedded_pace_test"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "HOURGLASS_PACE_CSV": str(path)})
        with open(path, newline="") as file:
            rows = [{name: int(text) for name, text in row.items()} for row in csv.DictReader(file)]
    minutes = [row["minute"] for row in rows]
    figure, axes = pyplot.subplots(2, 1, figsize=(12, 7), sharex=True)
    for axis, title, columns in ((axes[0], "work per minute, 20 regions", ("flushes", "merges")),
                                 (axes[1], "bytes written per minute", ("flushed_bytes", "merged_bytes"))):
        for shift, column in zip((-0.2, 0.2), columns):
            axis.bar([minute + shift for minute in minutes], [row[column] for row in rows], 0.8, label=column)
        for hour in (-60, 0, 60):
            axis.axvline(hour, color="grey", linestyle=":")
        axis.set_title(title)
        axis.grid(True, axis="y")
        axis.legend()
    axes[1].set_xlabel("minutes from midnight; dotted: the turn of an hour")
    figure.tight_layout()
    figure.savefig(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
