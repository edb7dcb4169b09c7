#!/usr/bin/env python3
"""SIGKILL while four connections write, again and again on one data directory: what was acknowledged is there.

    kill_rounds.py --tsdb build/release/tsdb [--rounds 20] [--durability synced] [--seed N]

Each round starts the daemon, writes batches of points that exist only once (series of this round, value = a running
number), kills it at a random moment, starts it again and reads the round back. Demanded: every point of a batch that
was answered with 204 is there with its value; nothing is there that was never sent; and what was undecided (sent, not
answered) is decided by the first reading for ever. A batch may be refused for now, with 503 or 429; any other answer is wrong. The last rounds' reading covers everything, before and after a
clean stop. The store is kept small, and its regions are divided, joined, flushed and merged through /api/admin all the
while, so that kills also hit flushes, merges and splits. --self-test checks the checking.
The last line reads "N passed, N failed"; a failure prints the seed.
"""
import argparse
import collections
import http.client
import json
import random
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from checks import Checks, judged  # noqa: E402
from daemon import Daemon, Refused  # noqa: E402
from shaker import Shaker  # noqa: E402

WRITERS = 4
MORE_ROUNDS = 20        # after the asked ones, at most, until regions were divided, joined and merged
SERIES = 20             # series of each writer in each round
FIRST = 1_700_000_000   # time of the first point of a series, in seconds
HOURS = [(FIRST // 3600 + hour) * 3600 for hour in range(4)]  # the hours at which regions are split
REFUSALS = (429, 503)   # a healthy daemon may answer these when it is busy
SMALL_STORE = {"tsd.storage.log.max": 1 << 20}  # the smallest allowed value: a flush about every 75,000 points


class Ledger:
    """What one writer sent in one round: (series, time in ms) -> value."""

    def __init__(self):
        self.acknowledged = {}
        self.undecided = {}

    def settle(self, found):
        """Compares with what was read; undecided points count as stored if they were read. Returns error texts."""
        errors = []
        for key, value in self.acknowledged.items():
            if key not in found:
                errors.append(f"lost: {key} = {value}")
            elif found[key] != value:
                errors.append(f"wrong: {key} = {found[key]}, sent {value}")
        for key, value in found.items():
            if key not in self.acknowledged and self.undecided.get(key) != value:
                errors.append(f"never sent: {key} = {value}")
        self.acknowledged.update((key, value) for key, value in self.undecided.items() if key in found)
        self.undecided = {}
        return errors


class Writer(threading.Thread):
    """Sends batches until the daemon is gone; any answer that it must not give is an error."""

    def __init__(self, daemon, ledger, round_number, number, seed):
        super().__init__()
        self.daemon_under_test = daemon
        self.ledger, self.round, self.number = ledger, round_number, number
        self.random = random.Random(seed)
        self.refused = 0
        self.sent = 0
        self.errors = []

    def batch(self):
        points, keys = [], {}
        for _ in range(self.random.choice((1, 10, 50, 500))):
            self.sent += 1
            series, tick = self.sent % SERIES, self.sent // SERIES
            # Series with even numbers have times in seconds, odd ones in milliseconds; every third value is a float.
            time_ms = (FIRST + tick) * 1000 if series % 2 == 0 else FIRST * 1000 + tick * 7 + 1
            unique = (self.round * WRITERS + self.number) * 10_000_000 + self.sent
            value = unique + 0.25 if self.sent % 3 == 0 else unique
            stamp = time_ms // 1000 if series % 2 == 0 else time_ms
            points.append({"metric": f"kill.m{series % 3}", "timestamp": stamp, "value": value,
                           "tags": {"writer": f"r{self.round}w{self.number}", "series": f"s{series}"}})
            keys[f"s{series}", time_ms] = value
        return json.dumps(points), keys

    def run(self):
        connection = self.daemon_under_test.connection(timeout=20)
        while True:
            body, keys = self.batch()
            self.ledger.undecided.update(keys)
            try:
                connection.request("POST", "/api/put", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException):
                return
            if answer.status == 204:
                for key in keys:
                    self.ledger.acknowledged[key] = self.ledger.undecided.pop(key)
            elif answer.status in REFUSALS:
                self.refused += 1
                time.sleep(0.01)
            else:
                self.errors.append(f"round {self.round} writer {self.number}: " + wrong_answer(answer.status, text))
                return


def wrong_answer(status, text):
    return f"a write is answered {status} {text[:300]!r}"


def read_back(daemon, round_number, writer):
    found = {}
    for metric in range(3):
        try:
            answer = daemon.query(FIRST - 1, f"none:kill.m{metric}{{writer=r{round_number}w{writer}}}",
                                  end=FIRST + 10_000_000, ms="true")
        except Refused as refused:
            if refused.status == 400:
                continue  # no point of this name was ever stored; if one is missing, the ledger shows it
            raise
        for series in answer:
            for time_ms, value in series["dps"].items():
                found[series["tags"]["series"], int(time_ms)] = value
    return found


def settle_round(daemon, round_number, ledgers):
    errors = []
    for writer, ledger in enumerate(ledgers):
        errors += [f"round {round_number} writer {writer} " + error
                   for error in ledger.settle(read_back(daemon, round_number, writer))]
    return errors


def stats_of(daemon):
    return {stat["metric"]: int(stat["value"]) for stat in daemon.get("/api/stats")}


def replayed_records(daemon):
    return stats_of(daemon)["tsd.storage.replayed_records"]


def background_work(daemon):
    """The number of flushes and merges since the daemon started."""
    stats = stats_of(daemon)
    return collections.Counter(flushes=stats.get("tsd.storage.flushes", 0), merges=stats.get("tsd.storage.merges", 0))


def one_round(daemon, number, chance, work):
    """Runs one round; returns (ledgers, errors) and adds the flushes and merges to `work`."""
    ledgers = [Ledger() for _ in range(WRITERS)]
    writers = [Writer(daemon, ledger, number, i, chance.random()) for i, ledger in enumerate(ledgers)]
    shaker = Shaker(daemon, chance.random(), HOURS)
    for thread in (*writers, shaker):
        thread.start()
    pause = chance.choice((chance.uniform(0.02, 0.3), chance.uniform(0.3, 2.5)))
    time.sleep(pause)
    work.update(background_work(daemon))
    daemon.kill()
    for thread in (*writers, shaker):
        thread.join()
    work.update(shaker.done)
    acknowledged = sum(len(ledger.acknowledged) for ledger in ledgers)
    undecided = sum(len(ledger.undecided) for ledger in ledgers)
    recovery_s = daemon.start()
    errors = settle_round(daemon, number, ledgers) + [f"round {number}: {error}" for error in shaker.errors]
    errors += [error for writer in writers for error in writer.errors]
    refused = sum(writer.refused for writer in writers)
    print(f"round {number}: killed after {pause:.2f} s, {acknowledged} points acknowledged, {undecided} unanswered"
          + (f", {refused} batches refused" if refused else "")
          + f"; up again in {recovery_s:.2f} s: " + ("all there" if not errors else f"{len(errors)} wrong"), flush=True)
    return ledgers, errors


class Scripted:
    """Replaces a daemon and its connection: raises an error or answers with the given status."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.status = None

    def connection(self, timeout):
        del timeout
        return self

    def request(self, *_):
        pass

    def getresponse(self):
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        self.status = outcome
        return self

    def read(self):
        return b"why"

    def close(self):
        pass


def self_test():
    def writer(*outcomes):
        it = Writer(Scripted(*outcomes, ConnectionResetError()), Ledger(), 0, 0, 1)
        it.run()
        return it

    def ledger():
        it = Ledger()
        it.acknowledged = {("s0", 1): 7}
        it.undecided = {("s0", 2): 8}
        return it

    later = ledger()
    first = later.settle({("s0", 1): 7, ("s0", 2): 8})
    refused, failing = writer(204, 503, 429), writer(503, 500, 204)
    return judged({
        "a refused batch is no error": not refused.errors and refused.refused == 2 and refused.ledger.acknowledged,
        "any other answer is one, with status and body": len(failing.errors) == 1 and "500 b'why'" in failing.errors[0],
        "all there": not first,
        "an undecided point may be missing": not ledger().settle({("s0", 1): 7}),
        "a lost point is found": len(ledger().settle({("s0", 2): 8})) == 1,
        "a wrong value is found": len(ledger().settle({("s0", 1): 9})) == 1,
        "an invented point is found": len(ledger().settle({("s0", 1): 7, ("s1", 1): 7})) == 1,
        "a point once read may not vanish": len(later.settle({("s0", 1): 7})) == 1,
    })


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--durability", default="logged")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()

    chance = random.Random(args.seed)
    print(f"durability {args.durability}, seed {args.seed}", flush=True)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="kill-rounds-") as folder:
        daemon = Daemon(args.tsdb, folder, {"tsd.storage.durability": args.durability, **SMALL_STORE})
        rounds, work = [], collections.Counter()

        try:
            daemon.start()
            # On a slow machine, some more rounds may be needed until everything has happened.
            for number in range(args.rounds + MORE_ROUNDS):
                enough = args.rounds < 5 or all(work[kind] for kind in ("split", "merge", "compact"))
                if number >= args.rounds and enough:
                    break
                ledgers, errors = one_round(daemon, number, chance, work)
                rounds.append(ledgers)
                checks.nothing(errors)
            for moment in ("before", "after"):
                errors = [error for number, ledgers in enumerate(rounds)
                          for error in settle_round(daemon, number, ledgers)]
                points = sum(len(ledger.acknowledged) for ledgers in rounds for ledger in ledgers)
                print(f"all rounds, {moment} a clean stop: {points} points, "
                      + ("all there" if not errors else f"{len(errors)} wrong"), flush=True)
                if moment == "before":
                    print(f"the kills fell among {work['flushes']} flushes and {work['merges']} merges; asked for: "
                          f"{work['split']} splits, {work['merge']} joins, {work['compact']} merges of all")
                    if args.rounds >= 5 and not (work["split"] and work["merge"] and work["compact"]):
                        errors.append("regions were never divided, joined and merged: the rounds proved too little")
                    if points == 0:
                        errors.append("nothing was acknowledged: the rounds proved nothing")
                    if points > 400_000 and not work["flushes"]:
                        errors.append("the store was never flushed: the rounds proved less than they should")
                    status = daemon.stop()
                    if status != 0:
                        errors.append(f"the clean stop ended with {status}")
                    daemon.start()
                    if replayed := replayed_records(daemon):
                        errors.append(f"after a clean stop {replayed} records were replayed")
                checks.nothing(errors)
        except RuntimeError as error:
            checks.nothing([str(error)])
        finally:
            daemon.kill()
        if checks.failed:
            print(f"seed {args.seed}; the daemon's last words:\n{daemon.log_tail()}")
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
