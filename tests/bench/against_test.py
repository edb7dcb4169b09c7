#!/usr/bin/env python3
"""bench/run --against judges correctly: it names figures that became worse and ignores noise. The last line reads "N passed, N failed"."""
import contextlib
import io
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests/support")]
from against import Figure, compare, judge  # noqa: E402
from checks import judged  # noqa: E402
from measuring import OLD, OURS  # noqa: E402


def share_called_worse(center, spread, rounds=5):
    """The share of 1000 figures, with ratios around `center`, that are called worse."""
    chance = random.Random(1)
    return sum(judge([center * chance.lognormvariate(0, spread) for _ in range(rounds)])[2] == "worse" for _ in range(1000)) / 1000


def verdict(old, new, **how):
    return judge(Figure("f", {OLD: [{"x": value} for value in old], OURS: [{"x": value} for value in new]}, "x", **how).pairs())[2]


def printed(figures):
    """Returns what compare() prints and returns."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        worse = compare(figures)
    return text.getvalue(), worse


def main():
    sides = {OLD: [{"rate": 100.0}] * 5, OURS: [{"rate": 90.0}] * 5}
    text, worse = printed([Figure("put: points/s", sides, "rate", larger_is_better=True), Figure("put: µs", sides, "rate")])
    return judged({
        "Noise alone is called worse once in a hundred figures at most": share_called_worse(1.0, 0.05) < 0.01,
        "A tenth is found in two per cent of noise": share_called_worse(1.1, 0.02) > 0.95,
        "Two per cent are left out, however small the noise": share_called_worse(1.02, 0.0001) == 0,
        "Four per cent are named where the noise is small": share_called_worse(1.04, 0.001) == 1,
        "Half of a rate is worse": verdict([100, 101], [50, 50.5], larger_is_better=True) == "worse",
        "Half of a time is better": verdict([100, 101], [50, 50.5]) == "better",
        "Sizes that were measured once have no noise": verdict([1.0], [1.05]) == "worse",
        "A drift that meets both builds is no difference": verdict([100, 200, 400, 300, 100], [101, 199, 401, 299, 100]) == "",
        "What became worse is named, and fails the comparison": len(worse) == 1 and "put: points/s: 11.1 % worse" in worse[0],
        "What became better is named": "BETTER by more than 3 % and beyond the noise: put: µs: 10.0 % better" in text,
        "The table has a row for each figure": all(any(line.startswith(name) for line in text.splitlines())
                                                    for name in ("put: points/s", "put: µs")),
    })


if __name__ == "__main__":
    sys.exit(main())
