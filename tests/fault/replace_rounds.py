#!/usr/bin/env python3
"""A daemon is replaced by another program while clients write and ask: nothing that was acknowledged is lost, and nobody
sees half of an answer.

    replace_rounds.py --tsdb build/release/tsdb [--old FORMER_TSDB] [--rounds 6] [--seed N]

Four writers and an asker keep their connections; each round stops the daemon (SIGTERM), as an upgrade does, and starts the
other program on the same data directory. --old: the program to begin with, and to come back to in every second round; without
it a copy of --tsdb under another name, which shows the order of a stop. Clients may see a connection refused or closed
without an answer, 503 and 429; then they send the same once more, as agents do. Any other answer to a write is wrong.
--self-test checks the checking.
The last line reads "N passed, N failed"; a failure prints the seed.
"""
import argparse
import http.client
import random
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import kill_rounds  # noqa: E402
from checks import judged, wait_until  # noqa: E402
from daemon import Daemon  # noqa: E402

WRITERS = 4
ROUND_POINTS = 2000  # points that must be acknowledged before the daemon is replaced


class Client(threading.Thread):
    """Sends one request after the other until it is told to stop, and repeats each until it is answered."""

    def __init__(self, daemon):
        super().__init__()
        self.daemon_under_test = daemon
        self.connection = None
        self.text = b""  # the body of the last response
        self.ending = threading.Event()
        self.errors, self.answered, self.repeated = [], 0, 0

    def ask(self, method, path, body=None):
        """Sends one request; returns its status, or None if there was no response, so that the outcome is unknown."""
        try:
            if self.connection is None:
                self.connection = self.daemon_under_test.connection(timeout=60)
            self.connection.request(method, path, body)
            answer = self.connection.getresponse()
            self.text = answer.read()
            return answer.status
        except (http.client.IncompleteRead, http.client.LineTooLong, http.client.UnknownProtocol) as error:
            self.errors.append(f"half of an answer: {error!r}")
        except http.client.BadStatusLine as error:
            if not isinstance(error, http.client.RemoteDisconnected):
                self.errors.append(f"half of an answer: {error!r}")
        except (OSError, http.client.HTTPException):
            pass
        self.connection.close()
        self.connection = None
        return None

    def until_answered(self, method, path, body=None):
        while True:
            status = self.ask(method, path, body)
            if status is not None and status not in kill_rounds.REFUSALS:
                self.answered += 1
                return status
            if self.ending.is_set():
                return None
            self.repeated += 1
            time.sleep(0.02)


class Writer(Client):
    def __init__(self, daemon, ledger, number, seed):
        super().__init__(daemon)
        self.ledger, self.points = ledger, kill_rounds.Writer(daemon, ledger, 0, number, seed)

    def run(self):
        while not self.ending.is_set():
            body, keys = self.points.batch()
            self.ledger.undecided.update(keys)
            status = self.until_answered("POST", "/api/put", body)
            if status == 204:
                for key in keys:
                    self.ledger.acknowledged[key] = self.ledger.undecided.pop(key)
            elif status is not None:
                self.errors.append(kill_rounds.wrong_answer(status, self.text))
                return


class Asker(Client):
    def run(self):
        path = f"/api/query?start={kill_rounds.FIRST - 1}&end={kill_rounds.FIRST + 10_000_000}&m=sum:kill.m0"
        while not self.ending.is_set():
            status = self.until_answered("GET", path)
            if status not in (None, 200, 400):  # 400: the metric does not exist yet
                self.errors.append(f"a query is answered {status}")
            time.sleep(0.01)


def wait_for_points(ledgers, count, patience_s=60):
    return wait_until(lambda: sum(len(ledger.acknowledged) for ledger in ledgers) >= count, patience_s)


def replace_under_load(daemon, programs, rounds, seed):
    """Replaces the daemon several times while clients write and query; returns error texts."""
    ledgers = [kill_rounds.Ledger() for _ in range(WRITERS)]
    chance = random.Random(seed)
    clients = [Writer(daemon, ledger, number, chance.random()) for number, ledger in enumerate(ledgers)]
    clients.append(Asker(daemon))
    errors = []
    for client in clients:
        client.start()
    try:
        for number in range(rounds):
            before = sum(len(ledger.acknowledged) for ledger in ledgers)
            if not wait_for_points(ledgers, before + ROUND_POINTS):
                errors.append(f"round {number}: too little was acknowledged")
            daemon.tsdb = programs[(number + 1) % len(programs)]
            began = time.monotonic()
            if (status := daemon.stop()) != 0:
                errors.append(f"round {number}: the daemon ended with {status}: {daemon.log_tail()}")
            stopped = time.monotonic()
            daemon.start()
            print(f"round {number}: {before} points acknowledged; stopped in {stopped - began:.2f} s, "
                  f"{daemon.tsdb.name} serves {time.monotonic() - stopped:.2f} s later", flush=True)
    finally:
        for client in clients:
            client.ending.set()
        for client in clients:
            client.join()
    for client in clients:
        errors += client.errors
        if client.answered == 0:
            errors.append("a client had no answer at all")
    for writer, ledger in enumerate(ledgers):
        errors += ledger.settle(kill_rounds.read_back(daemon, 0, writer))
    total = sum(len(ledger.acknowledged) for ledger in ledgers)
    print(f"{total} points acknowledged, {sum(client.repeated for client in clients)} requests sent once more")
    return errors


def self_test():
    def errors_of(*outcomes):
        client = Client(kill_rounds.Scripted(*outcomes, 204))
        client.until_answered("GET", "/")
        return client.errors

    return judged({
        "a closed connection is no error": not errors_of(http.client.RemoteDisconnected("gone"), ConnectionResetError()),
        "a refusal is none": not errors_of(503, 429, ConnectionRefusedError()),
        "a cut body is one": len(errors_of(http.client.IncompleteRead(b"x", 7))) == 1,
        "a cut head is one": len(errors_of(http.client.BadStatusLine("HTT"))) == 1,
    })


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    parser.add_argument("--old")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        return self_test()
    print(f"seed {args.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="replace-rounds-") as folder:
        old = args.old or shutil.copy(args.tsdb, Path(folder) / "old_tsdb")
        programs = [Path(old).resolve(), Path(args.tsdb).resolve()]
        daemon = Daemon(programs[0], folder, kill_rounds.SMALL_STORE)
        daemon.start()
        try:
            errors = replace_under_load(daemon, programs, args.rounds, args.seed)
        finally:
            daemon.kill()
    for error in errors[:20]:
        print("FAIL " + error)
    print(f"{0 if errors else args.rounds} passed, {len(errors)} failed")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
