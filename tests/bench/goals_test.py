#!/usr/bin/env python3
"""The table of goals lists what a run has measured, leaves out what it has not, and gives the reason for each missed goal. The last line reads "N passed, N failed"."""
import sys
import types
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from goals import Goal, number, read_reasons, table, why_missed  # noqa: E402

CASES = [
    ("at least, met on the bound", Goal("g", lambda data: data["x"], at_least=5, unit="×").judge({"x": 5}), ("5.00 ×", "met")),
    ("at least, missed", Goal("g", lambda data: data["x"], at_least=5).judge({"x": 4.999}), ("5.00", "**missed**")),
    ("at most, met", Goal("g", lambda data: data["x"], at_most=200, unit="ns").judge({"x": 158.4}), ("158 ns", "met")),
    ("at most, missed", Goal("g", lambda data: data["x"], at_most=0, unit="points").judge({"x": 1}), ("1.00 points", "**missed**")),
    ("nothing lost is met", Goal("g", lambda data: data["x"], at_most=0, unit="points").judge({"x": 0}), ("0 points", "met")),
    ("what a run left out is not run", Goal("g", lambda data: data["x"]["y"], at_least=1).judge({}), ("", "not run")),
    ("no number is not run", Goal("g", lambda data: float("nan"), at_least=1).judge({}), ("", "not run")),
    ("three digits", [number(x) for x in (0.0012345, 1.2345, 123.45, 123456.7)], ["0.00123", "1.23", "123", "123,457"]),
]


def main():
    part = types.SimpleNamespace(GOALS=[Goal("a", lambda data: data["x"], at_least=1), Goal("b", lambda data: data["z"], at_least=1)])
    kept = table({"run": part, "left out": part}, {"run": {"data": {"x": 2}}, "left out": None}.get)
    reasons = read_reasons("# Why\nof all\n## a; c\nfor this\n\n## b\nfor that\n")
    why = why_missed({"run": part}, {"run": {"data": {"x": 0, "z": 0.5}}}.get, reasons)
    some = why_missed({"run": part}, {"run": {"data": {"x": 2, "z": 0.5}}}.get, reasons[:1])
    cases = CASES + [
        ("reasons stand below the beginnings of goals", reasons, [(["a", "c"], "for this"), (["b"], "for that")]),
        ("each missed goal has its reason", why, "- a (0)\n\nfor this\n\n- b (0.500)\n\nfor that"),
        ("what is met needs none, what has none is said", some, "- b (0.500)\n\nNot looked into yet."),
        ("each goal has a line below the two of the head", kept.count("\n| "), 6),
        ("verdicts are counted", kept.split("\n")[0], "1 met, 0 missed, 3 not run."),
    ]
    failed = 0
    for what, found, expected in cases:
        if found != expected:
            print(f"FAIL {what}: {found!r}, not {expected!r}")
            failed += 1
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
