#!/usr/bin/python3
"""Latency of writes, and the work on files beside it, through three hours around midnight, by a clock that goes 30 times as fast.

    pace.py [--build build/release] [--out docs/internals/compaction-pace.png] [--csv PATH] [--minutes 180]

A daemon of its own (fast_tsdb: the whole program, its engine's clock 30 times as fast as the machine's) with twenty
regions and little memory, so that a flush comes every few minutes of that clock, and merges with it. 2,000 series write a
point every six seconds of that clock as requests of 50, 200 a second: bench's put_client, the open loop. A latency counts
from when the request fell due (no coordinated omission), by minute of the clock. Half the run is before midnight: rows
of all series end with each hour, those of a day's window, too, in the middle.

Draws (python3-matplotlib, installed by `setup/install soak`) and says the latencies of the minutes around the turns of
hours and of all others. A run takes six minutes; it measures the machine, too, so leave that alone meanwhile.
"""
import argparse
import csv
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from daemon import Daemon  # noqa: E402

MIDNIGHT = 1700006400
FACTOR = 30
REGIONS = 20
HOSTS, METRICS, STEP_S, BATCH = 200, 10, 6, 50
REQUESTS_A_MINUTE = HOSTS * METRICS * (60 // STEP_S) // BATCH
TURN = 2   # minutes before and after the start of an hour that count as belonging to it
MIB = 1 << 20
SETTINGS = {"tsd.storage.salt.width": 1, "tsd.storage.salt.buckets": REGIONS, "tsd.memory.limit": 64 * MIB,
            "tsd.storage.memstore.percent": 4, "tsd.storage.merge.interval": 2}
WORK = {"flushes": "flushes", "merges": "merges", "flushed": "flushes.bytes", "merged": "merges.bytes_written"}
LATENCIES = ("median_us", "p99_us", "max_us")


class Work(threading.Thread):
    """Records the total work of flushes and merges at the end of each minute (of the clock that runs 30 times as fast)."""

    def __init__(self, daemon, at, minutes):
        super().__init__(daemon=True)
        self.daemon_process, self.at, self.minutes, self.totals = daemon, at, minutes, []

    def run(self):
        for minute in range(self.minutes + 1):
            time.sleep(max(0, self.at + minute * 60 / FACTOR - time.time()))
            stats = {row["metric"]: int(row["value"]) for row in self.daemon_process.get("/api/stats")}
            self.totals.append({name: stats["tsd.storage." + stat] for name, stat in WORK.items()})


def measure(build, minutes):
    """Returns a row for each minute: its number since midnight, the work, and the latencies in microseconds."""
    begin = MIDNIGHT - minutes // 2 * 60
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(build / "fast_tsdb", folder, SETTINGS)
        at = int(time.time()) + 10
        os.environ["HOURGLASS_CLOCK"] = f"{begin} {at} {FACTOR}"
        daemon.start()
        try:
            load = [build / "put_client", "--port", str(daemon.port), "--hosts", str(HOSTS), "--metrics", str(METRICS),
                    "--steps", str(60 // STEP_S), "--step", str(STEP_S), "--batch", str(BATCH), "--start", str(begin)]
            subprocess.run([*load, "--create"], check=True, stdout=subprocess.DEVNULL)
            work = Work(daemon, at, minutes)
            work.start()
            time.sleep(max(0, at - time.time()))
            lines = subprocess.run([*load, "--connections", "8", "--rate", str(REQUESTS_A_MINUTE * FACTOR / 60), "--each",
                                    "--passes", str(minutes)], check=True, capture_output=True, text=True).stdout.splitlines()
            work.join()
            if daemon.stop() != 0:
                raise SystemExit("the daemon did not stop cleanly: " + daemon.log_tail())
        finally:
            daemon.kill()
    rows = []
    for minute, (line, before, after) in enumerate(zip(lines[:-1], work.totals, work.totals[1:])):
        words = line.split()
        said = dict(zip(words[::2], words[1::2]))
        rows.append({"minute": minute - minutes // 2, **{name: after[name] - before[name] for name in WORK},
                     **{name: float(said[name]) for name in LATENCIES}})
    print(lines[-1])
    return rows


def summary(rows):
    """The latencies of the minutes around the start of an hour, and of the other minutes."""
    for name, chosen in (("at the turn of an hour", [row for row in rows if (row["minute"] + TURN) % 60 <= 2 * TURN]),
                         ("all others", [row for row in rows if (row["minute"] + TURN) % 60 > 2 * TURN])):
        if not chosen:
            continue
        middle = {key: sorted(row[key] for row in chosen)[len(chosen) // 2] / 1000 for key in LATENCIES}
        print(f"{name}: {len(chosen)} minutes, {sum(row['flushes'] for row in chosen)} flushes, "
              f"{sum(row['merges'] for row in chosen)} merges; ms in the middle minute: median {middle['median_us']:.2f}, "
              f"p99 {middle['p99_us']:.2f}, most {middle['max_us']:.1f}; the most of all {max(row['max_us'] for row in chosen) / 1000:.1f}")


def draw(rows, out):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    minutes = [row["minute"] for row in rows]
    figure, axes = pyplot.subplots(3, 1, figsize=(12, 10), sharex=True)
    for name, label in zip(LATENCIES, ("median", "p99", "most")):
        axes[0].plot(minutes, [row[name] / 1000 for row in rows], label=label, linewidth=1)
    axes[0].set_yscale("log")
    axes[0].set_title(f"latency of a put of {BATCH} points, ms, {REQUESTS_A_MINUTE * FACTOR // 60} due a second, "
                      f"{FACTOR} seconds of the clock in one")
    for axis, title, columns in ((axes[1], f"work per minute, {REGIONS} regions", ("flushes", "merges")),
                                 (axes[2], "bytes written per minute", ("flushed", "merged"))):
        for shift, column in zip((-0.2, 0.2), columns):
            axis.bar([minute + shift for minute in minutes], [row[column] for row in rows], 0.8, label=column)
        axis.set_title(title)
    for axis in axes:
        for hour in (-60, 0, 60):
            axis.axvline(hour, color="grey", linestyle=":")
        axis.grid(True, axis="y")
        axis.legend()
    axes[2].set_xlabel("minutes from midnight; dotted: the turn of an hour")
    figure.tight_layout()
    figure.savefig(out)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--build", type=Path, default=ROOT / "build/release")
    words.add_argument("--out", type=Path, default=ROOT / "docs/internals/compaction-pace.png")
    words.add_argument("--csv", type=Path, help="file for the numbers by minute")
    words.add_argument("--redraw", action="store_true", help="draw the numbers of --csv instead of measuring")
    words.add_argument("--minutes", type=int, default=180)
    options = words.parse_args()
    if options.redraw:
        with open(options.csv, newline="") as file:
            rows = [{name: float(text) for name, text in row.items()} for row in csv.DictReader(file)]
    else:
        rows = measure(options.build, options.minutes)
        if options.csv:
            with open(options.csv, "w", newline="") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)
    summary(rows)
    draw(rows, options.out)


if __name__ == "__main__":
    main()
