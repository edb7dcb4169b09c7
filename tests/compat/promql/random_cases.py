#!/usr/bin/env python3
"""Random PromQL expressions, and the cases of Hourglass (tests/query/promql/cases.test), have the results of Prometheus' engine.

    random_cases.py build/release/promql_cases [--count 4000] [--seed 7] [--verbose]

Go builds the engine of a current Prometheus (tests/compat/promql/engine), which takes about a minute. It completes each case with
its results, and promql_cases compares: numbers, labels, times, whether a case fails, and whether there are warnings and infos.
Failed cases with a known reason are counted separately. Without Go or without the modules the suite is skipped. The last line
reads "N passed, N failed".
"""
import argparse
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "tests/compat/promql/engine"
ENGINE = ROOT / "build/agents/promql_engine"
OWN_CASES = ROOT / "tests/query/promql/cases.test"
SKIPPED = 77

DATA = """load 10s
  c_total{job="a",inst="1"} 0+10x20 5+7x40
  c_total{job="a",inst="2"} 3 5 9 _ _ 20 stale 4 5 6 2 1 NaN 4 5 6 7 8 9 10+3x30
  c_total{job="b",inst="1"} 1e6+1000x60
  c_total{job="b",inst="3"} _x30 0+60x30
  g{job="a",inst="1"} 1 -2 3.5 -4 5 0 -0 NaN Inf -Inf 7 8 9 1 2 3x40
  g{job="a",inst="2"} 5 5 5 stale _ 6 7 8+0.5x50
  g{job="b",inst="1"} -5-1x60
  g{job="b",inst="3",x="q"} 100-3x60
  h{job="a"} NaN NaN NaN NaN NaN NaN NaN NaN NaN NaN NaN 4x30
  one 1x60
  lone 7x5
  late _x50 3+1x10
  m{a="1",b="2",n="x"} 1+1x60
  m{a="1",b="3",n="y"} 2+1x60
  m{a="2",b="2",n="x"} 3+1x60
  m2{a="1",b="2"} 10+1x60
  m2{a="2",b="2"} 20-1x60
  m2{a="3",b="2"} 30x60
  unbounded{s="p"} Inf+0x60
  unbounded{s="n"} -Inf+0x60
  about_m{a="1",ver="v1"} 1x60
  about_m{a="2",ver="v2"} 1x60
  {"utf.metric","k.x"="1",le="5"} 4+1x60
  {"utf.metric","k.x"="2"} 8-1x60
  hb_bucket{job="a",le="0.1"} 1+1x60
  hb_bucket{job="a",le="1"} 3+2x60
  hb_bucket{job="a",le="10"} 4+4x60
  hb_bucket{job="a",le="+Inf"} 5+5x60
  hb_bucket{job="b",le="-5"} 1+1x60
  hb_bucket{job="b",le="0"} 3+2x60
  hb_bucket{job="b",le="5"} 2+2x60
  hb_bucket{job="b",le="+Inf"} 5+5x60
  hb_bucket{job="c",le="1"} 5x60
  hb_bucket{job="c",le="2"} 7x60
  hb_bucket{job="d",le="1"} 0x60
  hb_bucket{job="d",le="Inf"} 0x60
  hb_bucket{job="e",le="foo"} 5x60
  hb_bucket{job="e",le="1.0"} 5x60
  hb_bucket{job="e",le="1"} 6x60
  hb_bucket{job="e",le="+Inf"} 20x60
  hb_bucket{job="f",le="+Inf"} 20x60
  hb_bucket{job="g"} 20x60
  big{n="1"} 1e308x60
  big{n="2"} 1.5e308x60
  big{n="3"} -1e308x60
  tiny{n="1"} 1e-300x60
  typed{__type__="counter",__unit__="s",a="1"} 0+5x60
"""
SELECTORS = ["c_total", "g", "h", "one", "lone", "late", "m", "m2", "unbounded", '{"utf.metric"}', "hb_bucket", "big", "tiny", "typed",
             "nothing", 'c_total{job="a"}', 'g{inst=~"1|2"}', '{__name__=~"m|m2"}', '{__name__=~"c_.*"}', '{"utf.metric","k.x"="1"}',
             'm{a!="1"}', 'g{x=""}', 'm{zz=~".*"}', "about_m"]
NUMBERS = ["1", "2", "0.5", "-1", "NaN", "Inf", "-Inf", "0", "3", "1m", "1e3", "0x10", "-0", "time()", "scalar(one)", "scalar(m)", "1_000",
           ".5", "1h30m", "5e-1", "010"]
RANGES = ["10s+20s", "2*(5+10)", "step()+10", "max_of(range(),1m)/2", "-10+1m", "2^5", "100%30", "10s", "20s", "25s", "30s", "1m", "5m",
          "1ms", "100", "33s", "10m", "1m30s"]
OFFSETS = ["10s", "-10s", "15s", "1m", "-1m", "-5m", "0s", "20", "(10s+5s)", "step()", "-(range()/10)", "min_of(step(),7s)", "5s"]
INSTANTS = ["0", "100", "300.5", "start()", "end()", "-50", "1m", "1e2"]
OVER_RANGES = ["absent_over_time", "avg_over_time", "changes", "count_over_time", "delta", "deriv", "first_over_time", "idelta", "increase",
               "irate", "last_over_time", "max_over_time", "min_over_time", "rate", "present_over_time", "resets", "stddev_over_time",
               "stdvar_over_time", "sum_over_time"]
OVER_VECTORS = ["abs", "absent", "acos", "acosh", "asin", "asinh", "atan", "atanh", "ceil", "cos", "cosh", "deg", "exp", "floor", "ln",
                "log10", "log2", "rad", "sgn", "sin", "sinh", "sort", "sqrt", "tan", "sort_desc", "timestamp", "tanh", "day_of_month",
                "day_of_week", "day_of_year", "days_in_month", "hour", "minute", "month", "year", "histogram_avg", "histogram_count",
                "histogram_sum", "histogram_stddev"]
LABELS = ["a", "b", "job", "inst", "n", "le", "x", "__name__", '"k.x"', "zz", "s", "ver"]
ARITHMETIC = ["+", "-", "*", "/", "%", "^", "atan2"]
COMPARISONS = ["==", "!=", "<", ">", "<=", ">="]
SETS = ["and", "or", "unless"]
MATCHING = [("m", "m2"), ("m2", "m"), ("g", "c_total"), ("m", "about_m"), ("c_total", "g"), ("m", "m"), ('{__name__=~"m|m2"}', "m2"),
            ("g", "g offset 10s"), ("m2", "about_m")]

# Why a result may differ: (part of the expression, part of the difference, the reason).
KNOWN = [
    (r"topk|bottomk|sort", r"", "Prometheus does not define the order of equal values"),
    (r"", r"in a range: ", "a case at an instant is also evaluated in a range, where other steps may fail"),
    (r"\b(sum|avg|sum_over_time|avg_over_time)\b.*\bbig\b", r"Inf", "a sum beyond the largest double depends on the order of its series"),
    (r"count_values.*\b(stdvar|stddev|avg)\b", r"", "a rounded last digit is part of a label"),
]


class Expressions:
    """Writes random expressions. The argument `depth` bounds how far they are nested."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *words):
        return self.random.choice(words)

    def often(self, share):
        return self.random.random() < share

    def at(self):
        words = f" offset {self.pick(*OFFSETS)}" if self.often(0.18) else ""
        return words + (f" @ {self.pick(*INSTANTS)}" if self.often(0.15) else "")

    def selector(self):
        return self.pick(*SELECTORS) + self.at()

    def range(self, depth):
        if depth <= 0 or self.often(0.75):
            return f"{self.pick(*SELECTORS)}[{self.pick(*RANGES)}]{self.at()}"
        return f"({self.vector(depth - 1)})[{self.pick(*RANGES)}:{self.pick('', '10s', '7s', '1m', '5s')}]{self.at()}"

    def labels(self, least=0):
        return "(" + ",".join(self.random.sample(LABELS, self.random.randint(least, 3))) + ")"

    def grouping(self):
        return self.pick("", f" by {self.labels()}", f" without {self.labels()}")

    def number(self, depth):
        kind = self.random.random()
        if kind < 0.7 or depth <= 0:
            return self.pick(*NUMBERS)
        if kind < 0.85:
            operator = self.pick(*ARITHMETIC, "== bool", "> bool", "<= bool")
            return f"({self.pick(*NUMBERS)} {operator} {self.pick(*NUMBERS)})"
        return f"scalar({self.vector(depth - 1)})"

    def vector(self, depth):
        if depth <= 0:
            return self.selector()
        kinds = {self.selector_only: 12, self.over_range: 27, self.over_vector: 17, self.buckets: 3, self.replaced: 5, self.aggregated: 20,
                 self.binary: 18}
        return self.random.choices(list(kinds), kinds.values())[0](depth - 1)

    def selector_only(self, _):
        return self.selector()

    def over_range(self, depth):
        return self.pick(f"{self.pick(*OVER_RANGES)}({self.range(depth)})", f"{self.pick(*OVER_RANGES)}({self.range(depth)})",
                         f"quantile_over_time({self.number(depth)}, {self.range(depth)})",
                         f"predict_linear({self.range(depth)}, {self.number(depth)})")

    def over_vector(self, depth):
        inner = self.vector(depth)
        return self.pick(f"{self.pick(*OVER_VECTORS)}({inner})", f"{self.pick(*OVER_VECTORS)}({inner})",
                         f"{self.pick('clamp_max', 'clamp_min', 'round')}({inner}, {self.number(depth)})",
                         f"clamp({inner}, {self.number(depth)}, {self.number(depth)})", f"vector({self.number(depth)})", f"-{inner}",
                         f"+{inner}", f"({inner})", f"round({inner})")

    def buckets(self, depth):
        of = self.pick("hb_bucket", "rate(hb_bucket[1m])", self.vector(depth), "sum by(le)(hb_bucket)", '{__name__=~"hb_.*|m"}',
                       'label_replace(hb_bucket,"__name__","","","")')
        return self.pick(f"histogram_quantile({self.number(depth)}, {of})",
                         f"histogram_fraction({self.number(depth)}, {self.number(depth)}, {of})")

    def replaced(self, depth):
        if self.often(0.4):
            sources = "".join(f", {self.pick(*LABELS[:5], 'zz')!r}".replace("'", '"') for _ in range(self.random.randint(0, 3)))
            to = self.pick('"x"', '"__name__"', '"k.x"', '""', '"a"')
            return f'label_join({self.vector(depth)}, {to}, {self.pick(chr(34) * 2, chr(34) + "-" + chr(34))}{sources})'
        to = self.pick('"x"', '"a"', '"job"', '"__name__"', '"k.x"', '""', '"le"')
        text = self.pick('"$1"', '""', '"z"', '"$1-$2"', '"${1}x"', '"$$"', '"$name"', '"${n}"', '"$10"', '"$1x"', '"$"')
        source = self.pick('"a"', '"job"', '"__name__"', '"k.x"', '"zz"', '"inst"', '""')
        pattern = self.pick('"(.*)"', '".*"', '"(.)(.*)"', '""', '"a"', '"(?P<n>.+)"', '"(?i)A"', '"("')
        return f"label_replace({self.vector(depth)}, {to}, {text}, {source}, {pattern})"

    def aggregated(self, depth):
        inner, grouping = self.vector(depth), self.grouping()
        kind = self.random.random()
        if kind < 0.6:
            function = self.pick("sum", "avg", "min", "max", "count", "group", "stddev", "stdvar")
            return f"{function}{grouping} ({inner})" if self.often(0.7) else f"{function}({inner}){grouping}"
        if kind < 0.9:
            return f"{self.pick('topk', 'bottomk', 'quantile')}{grouping}({self.number(depth)}, {inner})"
        label = self.pick('"v"', '"job"', '"__name__"', '"a.b"', '"le"')
        return f"count_values{grouping}({label}, {inner})"

    def binary(self, depth):
        operator = self.pick(*ARITHMETIC, *COMPARISONS, *SETS)
        words = operator + (" bool" if operator in COMPARISONS and self.often(0.4) else "")
        if operator not in SETS and self.often(0.3):
            sides = [self.vector(depth), self.number(depth)]
            self.random.shuffle(sides)
            return f"{sides[0]} {words} {sides[1]}"
        matching = self.pick("", "", f" on{self.labels()}", f" ignoring{self.labels()}")
        if matching and operator not in SETS and self.often(0.45):
            matching += self.pick(" group_left", " group_right") + self.pick("", "()", self.labels(1))
        left, right = self.pick(*MATCHING) if self.often(0.6) else (self.vector(depth), self.vector(depth))
        return f"({left}) {words}{matching} ({right})"


def random_cases(seed, count):
    expressions = Expressions(seed)
    lines = [DATA]
    for _ in range(count):
        depth = expressions.random.randint(1, 3)
        text = expressions.vector(depth) if expressions.often(0.95) else expressions.number(2)
        if expressions.often(0.45):
            at = expressions.pick("0s", "5s", "100s", "125s", "200s", "330s", "600s", "14m", "1h", "305s")
            lines.append(f"eval instant at {at} {text}")
        else:
            start, end = expressions.pick("0s", "50s", "95s", "300s"), expressions.pick("300s", "400s", "700s")
            lines.append(f"eval range from {start} to {end} step {expressions.pick('10s', '30s', '47s', '1m')} {text}")
    return "\n".join(lines) + "\n"


def compare(program, name, cases, folder, verbose):
    """(number of passed cases, number of failed cases, counts of known reasons)"""
    completed = subprocess.run([ENGINE], input=cases, capture_output=True, text=True, timeout=600, check=False)
    if completed.returncode:
        print(f"FAIL {name}: the engine ended with {completed.returncode}: {completed.stderr[-500:]}")
        return 0, 1, Counter()
    file = Path(folder, name)
    file.write_text(completed.stdout)
    done = subprocess.run([program, file], capture_output=True, text=True, timeout=600, check=False)
    passed, failed, known, counted = 0, 0, Counter(), False
    for line in done.stdout.splitlines():
        kind, _, *rest = line.split("\t")
        if kind == "counts":
            passed, counted = int(rest[0]), True
            continue
        why = next((reason for expression, part, reason in KNOWN if re.search(expression, rest[1]) and re.search(part, rest[2])), None)
        if why is None and kind == "failed":
            failed += 1
            print(f"FAIL {name}: {rest[1]}: {rest[2][:400]}")
        else:
            known[why or "excluded: " + rest[2]] += 1
            if verbose:
                print(f"known {name}: {rest[1]}: {rest[2][:400]}")
    if not counted:
        print(f"FAIL {program}: exit status {done.returncode}, {done.stderr[-500:]}")
        failed += 1
    return passed, failed, known


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="promql_cases")
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--verbose", action="store_true", help="print cases with known reasons, too")
    args = parser.parse_args()
    built = subprocess.run([ROOT / "setup/go_program", SOURCE, ENGINE], capture_output=True, text=True, check=False)
    if built.returncode:
        print(f"skipped: the engine of Prometheus: {(built.stderr.strip() or 'no reason').splitlines()[-1]}")
        return SKIPPED
    passed = failed = 0
    known = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, cases in (("cases.test", OWN_CASES.read_text()), (f"seed_{args.seed}.test", random_cases(args.seed, args.count))):
            good, bad, reasons = compare(args.program, name, cases, folder, args.verbose)
            print(f"{name}: {good} passed, {bad} failed")
            passed, failed, known = passed + good, failed + bad, known + reasons
    for reason, count in known.most_common():
        print(f"{count:6} {reason}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
