"""How the script suites count: each check is what was got beside what was wanted, and the last line counts them."""
import time


class Checks:
    """check(what, got, wanted); `return check.finish()` at the end of main, which prints "N passed, N failed"."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, what, got, wanted):
        if got == wanted:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL {what}: {str(got)[:300]}, not {str(wanted)[:300]}", flush=True)

    def finish(self):
        """The exit status."""
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def waited(ask, wanted, patience_s=60):
    """What ask() gives once it is what is wanted, or at the end of patience."""
    end = time.monotonic() + patience_s
    while ask() != wanted and time.monotonic() < end:
        time.sleep(0.2)
    return ask()
