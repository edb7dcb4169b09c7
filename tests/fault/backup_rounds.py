#!/usr/bin/env python3
"""Backups of a daemon that is written to, and of one that is killed meanwhile.

    backup_rounds.py --tsdb build/release/tsdb [--rounds 5] [--seed N]

Each round: four connections write, regions are divided, joined and merged; `tsdb backup` asks the daemon for a copy; the copy is restored, a second daemon
opens it, and every point that was acknowledged before the copy was asked for is there, none that was never sent. Then
another copy is begun and the daemon killed in the middle: what is left is refused by `tsdb restore`, or is whole; the
daemon starts again and the same copy is completed. The last copy is of the stopped store. `tsdb check` finds no damage
in store and copies. The last line reads "N passed, N failed"; a failure prints the seed.
"""
import argparse
import collections
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import Checks  # noqa: E402
from kill_rounds import HOURS, SMALL_STORE, WRITERS, Daemon, Ledger, Shaker, Writer, read_back  # noqa: E402

WRITE_S = 1.0
KILL_WITHIN_S = 0.1


class Rounds:
    def __init__(self, args, folder):
        self.tsdb, self.folder = args.tsdb, folder
        self.chance = random.Random(args.seed)
        (folder / "first").mkdir()
        self.daemon = Daemon(args.tsdb, folder / "first", SMALL_STORE)
        self.checks = Checks()
        self.demand = self.checks.must
        self.work = collections.Counter()

    def run(self, *words, data=None):
        return subprocess.run([self.tsdb, *words, f"--config={self.folder}/first/tsd.conf"]
                              + ([f"--data={data}"] if data else []), capture_output=True, text=True, timeout=300)

    def succeed(self, *words, data=None):
        done = self.run(*words, data=data)
        self.demand(done.returncode == 0, f"tsdb {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr}")
        return done

    def compare(self, copy, number, before, ledgers):
        """Checks that the restored copy holds what was acknowledged before it, and nothing that was never sent."""
        (self.folder / "second").mkdir()
        data = self.folder / "second/data"
        self.succeed("restore", copy, data=data)
        self.succeed("check", data)
        second = Daemon(self.tsdb, self.folder / "second", SMALL_STORE)
        second.start()
        for writer, (had, ledger) in enumerate(zip(before, ledgers)):
            found = read_back(second, number, writer)
            lost = [key for key in had if key not in found]
            sent = {**ledger.acknowledged, **ledger.undecided}
            wrong = [key for key, value in found.items() if sent.get(key) != value]
            self.demand(not lost, f"round {number} writer {writer}: {len(lost)} of {len(had)} points are not in the copy")
            self.demand(not wrong, f"round {number} writer {writer}: {len(wrong)} points of the copy were never sent")
        self.demand(second.stop() == 0, "the daemon over the copy did not stop cleanly")
        shutil.rmtree(self.folder / "second")

    def round(self, number):
        copy = self.folder / "copy"
        ledgers = [Ledger() for _ in range(WRITERS)]
        writers = [Writer(self.daemon, ledger, number, i, self.chance.random()) for i, ledger in enumerate(ledgers)]
        shaker = Shaker(self.daemon, self.chance.random(), HOURS)
        for thread in (*writers, shaker):
            thread.start()
        time.sleep(WRITE_S)
        before = [dict(ledger.acknowledged) for ledger in ledgers]
        self.succeed("backup", copy)
        self.succeed("check")
        # The first copy goes to another place, and the daemon is killed meanwhile.
        other = self.folder / f"other{number}"
        asked = subprocess.Popen([self.tsdb, "backup", other, f"--config={self.folder}/first/tsd.conf"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(self.chance.uniform(0, KILL_WITHIN_S))
        self.daemon.kill()
        asked.wait(60)
        for thread in (*writers, shaker):
            thread.join()
        self.demand(not shaker.errors, f"round {number}: {shaker.errors[:3]}")
        for writer in writers:
            self.demand(not writer.errors, str(writer.errors))
        self.work.update(shaker.done)
        whole = (other / "BACKUP").exists()
        restored = self.run("restore", other, data=self.folder / "third")
        self.demand((restored.returncode == 0) == whole, f"a copy that is {'' if whole else 'not '}whole: {restored.stderr}")
        self.daemon.start()
        self.succeed("backup", other)
        self.compare(copy, number, before, ledgers)
        self.compare(other, number, [ledger.acknowledged for ledger in ledgers], ledgers)
        print(f"round {number}: {sum(map(len, before))} points before the copy; the killed one was "
              f"{'whole' if whole else 'refused'}; {shaker.done['split']} splits, {shaker.done['merge']} joins meanwhile", flush=True)
        for rubbish in ("third", f"other{number}"):
            shutil.rmtree(self.folder / rubbish, ignore_errors=True)
        return ledgers

    def run_all(self, rounds):
        self.daemon.start()
        for number in range(rounds):
            ledgers = self.round(number)
        self.demand(self.daemon.stop() == 0, "the daemon did not stop cleanly")
        copy = self.folder / "copy"
        done = self.succeed("backup", copy)
        print(done.stderr.strip().splitlines()[-1:], flush=True)
        self.succeed("check", copy)
        self.compare(copy, rounds - 1, [ledger.acknowledged for ledger in ledgers], ledgers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    args = parser.parse_args()
    args.tsdb = str(Path(args.tsdb).resolve())
    print(f"seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="backup-rounds-") as folder:
        rounds = Rounds(args, Path(folder))
        try:
            rounds.run_all(args.rounds)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            rounds.demand(False, str(error))
        finally:
            rounds.daemon.kill()
        if rounds.checks.failed:
            print(f"seed {args.seed}; the daemon's last words:\n{rounds.daemon.log_tail()}")
    return rounds.checks.finish()


if __name__ == "__main__":
    sys.exit(main())
