"""What the programs of this folder share: an agent writes to a daemon through relays, which keep what it sent; afterwards
what is stored must be that, and nothing else.

    def trial(t):
        relay = t.relay()
        agent = t.start(["agent", "--port", relay.port])
        t.writing()
        stop(agent)
        t.compare([relay])

    if __name__ == "__main__":
        sys.exit(main(trial, __doc__, needs=["setup/install", "agent"]))

A program whose agent cannot be had says so in a line that begins with "skipped:" and ends with status 77.
"""
import argparse
import collections
import fcntl
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
sys.dont_write_bytecode = True
from daemon import Daemon  # noqa: E402
import relay as relays  # noqa: E402
import wire  # noqa: E402

SKIPPED = 77
SETTLE_S = 120        # seconds within which an undisturbed daemon has stored what it was sent
SUB_QUERIES_MAX = 50  # sub-queries of one request
METRICS_MAX = 1000000


class Missing(Exception):
    """An agent that cannot be installed or run on this machine."""


class Check:
    """Checks statements and counts how many hold."""

    def __init__(self):
        self.passed = self.failed = 0

    def that(self, fact, errors):
        self.passed += not errors
        self.failed += bool(errors)
        print(("ok   " if not errors else "FAIL ") + fact, flush=True)
        for error in errors[:5]:
            print(f"     {error}")
        if len(errors) > 5:
            print(f"     and {len(errors) - 5} more")

    def result(self):
        """Prints the last line of the output; returns the exit status."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def stop(process, patience_s=20):
    """Sends SIGTERM, and SIGKILL if the process does not end."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def stored(daemon, start, end):
    """Returns {(metric, tags as a frozenset, milliseconds): value} for everything stored in those seconds."""
    out = {}
    metrics = daemon.get(f"/api/suggest?type=metrics&max={METRICS_MAX}")
    for first in range(0, len(metrics), SUB_QUERIES_MAX):
        queries = [{"aggregator": "none", "metric": metric} for metric in metrics[first:first + SUB_QUERIES_MAX]]
        for series in daemon.post("/api/query", {"start": start, "end": end, "msResolution": True, "queries": queries}):
            tags = frozenset(series["tags"].items())
            out.update(((series["metric"], tags, int(at)), value) for at, value in series["dps"].items())
    return out


def differences(sent, kept):
    """What is missing, what is other than it was sent, what was never sent. An integer is answered as one where its series has
    nothing else; beside doubles it may be either."""
    kinds = collections.defaultdict(set)
    for key, value in sent.items():
        kinds[key[:2]].add(type(value))
    for key, value in sent.items():
        if key not in kept:
            yield f"{told(key)} is missing, {value} was sent"
        elif kept[key] != value or (len(kinds[key[:2]]) == 1 and type(kept[key]) is not type(value)):
            yield f"{told(key)} is {kept[key]!r}, {value!r} was sent"
    for key in kept.keys() - sent.keys():
        yield f"{told(key)} is {kept[key]}, which nobody sent"


def told(key):
    metric, tags, at = key
    return f"{metric}{{{','.join(sorted('='.join(tag) for tag in tags))}}} at {at}"


class Trial:
    def __init__(self, daemon, folder, seconds, check, way=None):
        self.daemon, self.folder, self.seconds, self.check, self.way = daemon, Path(folder), seconds, check, way
        self.began = int(time.time())
        self.processes, self.relays = [], []

    def relay(self, port=None):
        """Starts a relay in front of the daemon's port, or of another port."""
        self.relays.append(relays.Relay(port or self.daemon.port))
        return self.relays[-1]

    def start(self, command, **options):
        """Starts a process that is ended with the trial; its output goes to a separate file."""
        out = self.folder / f"agent{len(self.processes)}.out"
        options.setdefault("stdin", subprocess.DEVNULL)
        with open(out, "ab") as file:
            options.setdefault("stdout", file)
            process = subprocess.Popen([str(word) for word in command], stderr=file, **options)
        process.said = out
        self.processes.append(process)
        return process

    def writing(self, share=1.0):
        """Waits for that share of the trial's time while the agents write."""
        print(f"agents write for {self.seconds * share:.0f} s", flush=True)
        until = time.monotonic() + self.seconds * share
        while time.monotonic() < until:
            for process in self.processes:
                if process.poll() is not None:
                    raise RuntimeError(f"{process.args[0]} ended by itself: "
                                       + process.said.read_text(errors="replace")[-1500:])
            time.sleep(0.2)

    def end(self):
        for process in self.processes:
            stop(process)
        for each in self.relays:
            each.close()
        if self.daemon.process:
            self.daemon.kill()

    def span(self):
        """The range of seconds that holds everything that agents have written."""
        return self.began - 2 * 3600, int(time.time()) + 60

    def to_its_end(self, process):
        """Waits for a process that ends by itself when its time is over."""
        patience_s = 3 * self.seconds + 60
        try:
            if process.wait(patience_s) == 0:
                return
        except subprocess.TimeoutExpired:
            pass
        raise RuntimeError(f"{process.args[0]} does not end well: " + process.said.read_text()[-1500:])

    def settled(self, expected, fact):
        """Checks that the stored data becomes equal to `expected`."""
        errors = ["nothing is expected"] if not expected else []
        until = time.monotonic() + SETTLE_S
        while expected:
            errors = list(differences(expected, stored(self.daemon, *self.span())))
            if not errors or time.monotonic() > until:
                break
            time.sleep(0.2)
        self.check.that(fact, errors)

    def compare(self, of, what="the agent", known=()):
        """What these relays saw, whose clients have ended, is stored, nothing else is, and no answer was a complaint, but for
        those with words that are known. The points that were sent, without those at the time 0, which is refused."""
        sent = {}
        for each in of:
            sent.update((key, value) for key, value in each.points().items() if key[2] != 0)
        series = {(metric, tags) for metric, tags, _ in sent}
        self.settled(sent, f"{len(sent)} points of {len(series)} series that {what} sent are stored, and nothing else is")
        self.check.that(f"nothing that {what} sent was refused",
                        [words for each in of for connection in each.connections
                         for words in wire.complaints(connection.sent, connection.answered)
                         if not any(text in words for text in known)])
        return sent


def provide(needs):
    """Installs what a trial needs; raises Missing if this machine cannot have it."""
    if not needs:
        return
    # One at a time, because package managers cannot run in parallel.
    turn = ROOT / "build/agents/.provide"
    turn.parent.mkdir(parents=True, exist_ok=True)
    with open(turn, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = subprocess.run([str(ROOT / needs[0]), *needs[1:]], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True)
    if done.returncode != 0:
        words = (done.stderr.strip() or done.stdout.strip() or "no reason was told").splitlines()
        raise Missing(f"{' '.join(needs)} failed: {words[-1]}")


def main(trial, description, needs=(), ways=(), seconds=15, settings=None):
    """Runs a trial according to its command line, in one of its ways if it has several; returns the exit status."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    parser.add_argument("--seconds", type=float, default=seconds)
    if ways:
        parser.add_argument("way", choices=ways)
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that the processes that were started are ended, too
    check = Check()
    try:
        provide(needs)
    except Missing as missing:
        print(f"skipped: {Path(sys.argv[0]).stem}: {missing}")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix=Path(sys.argv[0]).stem + "-", ignore_cleanup_errors=True) as folder:
        daemon = Daemon(args.tsdb, folder, settings)
        daemon.start()
        t = Trial(daemon, folder, args.seconds, check, args.way if ways else None)
        try:
            trial(t)
            check.that("a clean stop ends well", [] if daemon.stop() == 0 else [daemon.log_tail()])
        except (RuntimeError, OSError) as error:
            check.that("the trial goes to its end", [str(error)])
        finally:
            t.end()
        if check.failed:
            print("the daemon's last words:\n" + daemon.log_tail())
            for process in t.processes:
                print(f"{process.args[0]}'s last words:\n" + process.said.read_text(errors="replace")[-1500:])
    return check.result()
