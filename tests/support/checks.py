"""Counting of checks for the test scripts: a check compares a result with the expected one; the last line prints the totals."""
import time

ERRORS_TOLD = 10


class Checks:
    """check(what, got, wanted) and the other methods count; `return check.finish()` at the end of main prints "N passed, N failed"."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, what, got, wanted):
        if got == wanted:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {what}: {str(got)[:300]}, not {str(wanted)[:300]}", flush=True)

    def demand(self, holds, what):
        """One check that is also printed when it passes."""
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        print(("" if holds else "FAIL ") + what, flush=True)

    def nothing(self, errors):
        """One check that there are no errors; prints the first ones."""
        for error in errors[:ERRORS_TOLD]:
            print(f"FAIL {str(error)[:2000]}", flush=True)
        self.passed, self.failed = self.passed + (not errors), self.failed + bool(errors)

    def must(self, holds, complaint):
        """One check that is printed only when it fails."""
        self.nothing([] if holds else [complaint])

    def finish(self):
        """Prints the last line; returns the exit status."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def judged(named):
    """The exit status of a program whose only result is {what: whether it holds}."""
    check = Checks()
    for what, holds in named.items():
        check(what, bool(holds), True)
    return check.finish()


def wait_until(condition, patience_s=60):
    """Calls condition() until it holds or the time is over; returns whether it held."""
    end = time.monotonic() + patience_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def waited(ask, wanted, patience_s=60):
    """Calls ask() until it returns `wanted` or the time is over; returns the last result."""
    wait_until(lambda: ask() == wanted, patience_s)
    return ask()
