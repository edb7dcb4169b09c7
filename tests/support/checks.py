"""How the script suites count: a check may be what was got beside what was wanted, and the last line counts them."""
import time

ERRORS_TOLD = 10


class Checks:
    """check(what, got, wanted), and the other ways; `return check.finish()` at the end of main prints "N passed, N failed"."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, what, got, wanted):
        if got == wanted:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {what}: {str(got)[:300]}, not {str(wanted)[:300]}", flush=True)

    def demand(self, holds, what):
        """What holds is told, too."""
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        print(("" if holds else "FAIL ") + what, flush=True)

    def nothing(self, errors):
        """One check: there are no errors, of which the first are told."""
        for error in errors[:ERRORS_TOLD]:
            print(f"FAIL {error}", flush=True)
        self.passed, self.failed = self.passed + (not errors), self.failed + bool(errors)

    def must(self, holds, complaint):
        """What holds is not told."""
        self.nothing([] if holds else [complaint])

    def finish(self):
        """The exit status."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def judged(named):
    """The exit status where {what: whether it holds} is all there is."""
    check = Checks()
    for what, holds in named.items():
        check(what, bool(holds), True)
    return check.finish()


def waited(ask, wanted, patience_s=60):
    """What ask() gives once it is what is wanted, or at the end of patience."""
    end = time.monotonic() + patience_s
    while ask() != wanted and time.monotonic() < end:
        time.sleep(0.2)
    return ask()
