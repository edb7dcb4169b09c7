#!/usr/bin/env python3
"""The README's start, walked in a fresh clone: each of its commands is run as it stands there, and answers what stands below it.

    five_minutes.py

What is other than on the page: the port, which is a free one, and the data directory. Needs what ./run needs, since that is
the first command. Clones and builds (the compiler's cache helps) below build/, so that nothing is left elsewhere. The last line
reads "N passed, N failed".
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import pages

sys.path.insert(0, str(pages.ROOT / "tests/support"))
sys.dont_write_bytecode = True
from daemon import free_port  # noqa: E402

BUILD_S = 1800
COMMAND_S = 60
TIMES = re.compile(r'"\d{10}"')


def steps(text):
    """Returns (command, the answer's language and text, or None) in the order of the page."""
    found = list(pages.blocks(text))
    for i, (language, block, _) in enumerate(found):
        if language == "sh":
            after = found[i + 1] if i + 1 < len(found) and found[i + 1][0] in ("text", "json") else None
            yield block.strip(), after and (after[0], after[1].strip())


class Walk:
    def __init__(self, clone):
        self.clone, self.port, self.server = clone, free_port(), None
        self.said = clone / "run.out"

    def run(self, command):
        """Runs a command and returns its standard output; a command that keeps running is started and waited for until it answers."""
        command = command.replace("4242", str(self.port))
        if command == "./run":
            return self.start()
        done = subprocess.run(["bash", "-c", command], cwd=self.clone, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=COMMAND_S, check=False)
        if done.returncode:
            raise RuntimeError(f"ended with status {done.returncode}: {done.stderr[-500:]}")
        return done.stdout

    def start(self):
        with open(self.said, "wb") as out:
            command = ["./run", "--port", str(self.port), "--data", str(self.clone / "data")]
            self.server = subprocess.Popen(command, cwd=self.clone, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                           start_new_session=True)
        until = time.monotonic() + BUILD_S
        while time.monotonic() < until and self.server.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/version", timeout=5):
                    return self.said.read_text()
            except OSError:
                time.sleep(0.2)
        raise RuntimeError("./run: " + self.said.read_text()[-2000:])

    def end(self):
        if self.server and self.server.poll() is None:
            os.killpg(self.server.pid, signal.SIGTERM)
            self.server.wait(60)


def fault(walk, command, answer):
    """What is wrong with a step; empty if nothing is."""
    try:
        got = walk.run(command)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if answer is None:
        return ""
    shown = TIMES.sub('"0"', answer[1])
    got = TIMES.sub('"0"', got)
    return "" if pages.agree_body(got, shown) else f"answered {got[:1000]!r}"


def line_arrived(walk):
    """The last command of the page prints no answer: checks that its point is stored."""
    until = time.monotonic() + COMMAND_S
    while time.monotonic() < until:
        if "21.7" in walk.run("curl -s 'http://127.0.0.1:4242/api/query?start=1h-ago&m=none:room.temp'"):
            return ""
        time.sleep(0.1)
    return "the point of the line protocol is not there"


def main():
    (pages.ROOT / "build").mkdir(exist_ok=True)
    clone = pages.Path(tempfile.mkdtemp(prefix="five-minutes-", dir=pages.ROOT / "build"))
    passed = failed = 0
    walk = Walk(clone / "hourglass")
    try:
        subprocess.run(["git", "clone", "-q", "--local", str(pages.ROOT), str(walk.clone)], check=True)
        walk.said = clone / "run.out"
        for command, answer in list(steps((pages.ROOT / "README.md").read_text())):
            wrong = fault(walk, command, answer)
            told = command.replace("\n", " ")[:100]
            print(f"FAIL {told}: {wrong}" if wrong else f"ok   {told}", flush=True)
            passed, failed = passed + (not wrong), failed + bool(wrong)
        wrong = line_arrived(walk) if not failed else ""
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print("FAIL " + wrong)
        if passed + failed < 5:
            failed += 1
            print("FAIL the page's commands were not found")
    finally:
        walk.end()
        shutil.rmtree(clone, ignore_errors=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
