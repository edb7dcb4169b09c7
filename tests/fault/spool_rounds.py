#!/usr/bin/env python3
"""SIGKILL of a daemon over HBase while HBase is away, or just back: what was acknowledged is there in the end.

    spool_rounds.py --tsdb build/release/tsdb --gateway build/release/hbase_gateway [--rounds 4] [--seed N]

HBase is the small gateway of tests/support/hbase, which lives through all rounds. In each round four connections write
points that exist only once; HBase goes away among them, and the daemon answers from its spool; at a random moment,
HBase being away still or the spool being replayed, the daemon is killed. It is started again, where HBase was away before
that is back, empties the spool, and is read. Demanded is what kill_rounds.py demands. The last line reads "N passed, N failed"; a failure
prints the seed.
"""
import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.dont_write_bytecode = True
from checks import Checks, wait_until  # noqa: E402
from daemon import Daemon  # noqa: E402
from kill_rounds import WRITERS, Ledger, Writer, settle_round, stats_of  # noqa: E402

PATIENCE_S = 60


class Gateway:
    """The small HBase gateway, which can be stopped and started."""

    def __init__(self, program, folder):
        self.away = Path(folder) / "away"
        self.process = subprocess.Popen([Path(program).resolve(), self.away], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def leave(self):
        self.away.touch()

    def come_back(self):
        self.away.unlink(missing_ok=True)

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


class SlowWriter(Writer):
    """A writer that pauses between batches, because the small gateway would take too long to accept a full spool."""

    def batch(self):
        time.sleep(0.02)
        return super().batch()


def wait_for(what, condition):
    if not wait_until(condition, PATIENCE_S):
        raise RuntimeError(f"{what}: not within {PATIENCE_S} s")


def spooled(daemon, name):
    return stats_of(daemon)[f"tsd.hbase.spool.{name}"]


def one_round(daemon, gateway, number, chance):
    """Runs one round; returns (ledgers, errors)."""
    ledgers = [Ledger() for _ in range(WRITERS)]
    writers = [SlowWriter(daemon, ledger, number, i, chance.random()) for i, ledger in enumerate(ledgers)]
    for writer in writers:
        writer.start()
    # Waits until every name has its id.
    wait_for("points of all series", lambda: all(len(ledger.acknowledged) > 100 for ledger in ledgers))
    gateway.leave()
    wait_for("points in the spool", lambda: spooled(daemon, "taken") > 0)
    time.sleep(chance.uniform(0, 0.2))
    replaying = chance.random() < 0.5
    if replaying:
        gateway.come_back()
        time.sleep(chance.uniform(0, 0.2))
    waiting = spooled(daemon, "bytes")
    daemon.kill()
    for writer in writers:
        writer.join()
    if replaying:
        daemon.start()
    else:  # the daemon waits for HBase
        back = threading.Timer(2, gateway.come_back)
        back.start()
        daemon.start()
        back.join()
    wait_for("an empty spool", lambda: spooled(daemon, "bytes") == 0)
    errors = settle_round(daemon, number, ledgers) + [error for writer in writers for error in writer.errors]
    print(f"round {number}: killed {'after HBase was back' if replaying else 'while HBase was away'}, about {waiting} bytes in "
          f"the spool; {sum(len(ledger.acknowledged) for ledger in ledgers)} points acknowledged: "
          + ("all there" if not errors else f"{len(errors)} wrong"), flush=True)
    return ledgers, errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    parser.add_argument("--gateway", default="build/release/hbase_gateway")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--durability", default="logged")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    args = parser.parse_args()
    chance = random.Random(args.seed)
    print(f"durability {args.durability}, seed {args.seed}", flush=True)
    checks = Checks()

    with tempfile.TemporaryDirectory(prefix="spool-rounds-") as folder:
        gateway = Gateway(args.gateway, folder)
        daemon = Daemon(args.tsdb, folder, {
            "tsd.storage.backend": "hbase", "tsd.storage.hbase.thrift": f"127.0.0.1:{gateway.port}",
            "tsd.storage.hbase.thrift.deadline": 1000, "tsd.storage.hbase.spool.patience": 100,
            "tsd.storage.durability": args.durability})
        rounds = []
        try:
            daemon.start()
            for number in range(args.rounds):
                ledgers, errors = one_round(daemon, gateway, number, chance)
                rounds.append(ledgers)
                checks.nothing(errors)
            checks.nothing([error for number, ledgers in enumerate(rounds) for error in settle_round(daemon, number, ledgers)])
            status = daemon.stop()
            checks.nothing([] if status == 0 else [f"the clean stop ended with {status}"])
        except RuntimeError as error:
            checks.nothing([str(error)])
        finally:
            if daemon.process is not None:
                daemon.kill()
            gateway.stop()
        if checks.failed:
            print(f"seed {args.seed}; the daemon's last words:\n{daemon.log_tail()}")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
