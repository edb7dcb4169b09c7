"""Two builds of the daemon compared, figure by figure (bench/run --against).

Both builds are measured in each round, one right after the other, so that a round gives a pair. The ratio of a figure is the
median of its pairs, turned so that above 1 means worse. The noise of a figure is the half-width of the 99 % confidence interval of the mean of
its pairs (Student's t): a ratio nearer to 1 than the noise says nothing. More rounds make the noise smaller.

With some hundred figures one or the other may stand out by accident: measure its part again, with more rounds, before believing it.
"""
import math
import statistics

import measuring
from goals import number

WORSE_PERCENT = 3  # how much worse a figure may become, in percent, before the comparison fails; differences within the noise never fail it
# Quantiles of Student's t distribution (one-sided 99.5 %), by degrees of freedom, starting with 1.
T_995 = (63.66, 9.92, 5.84, 4.60, 4.03, 3.71, 3.50, 3.36, 3.25, 3.17, 3.11, 3.05, 3.01, 2.98, 2.95, 2.92, 2.90, 2.88, 2.86, 2.85)


class Figure:
    """One figure of a part: `sides` are {server: [round]}, `field` is the number in each round."""

    def __init__(self, name, sides, field, larger_is_better=False):
        self.name = name
        self.old, self.new = ([row[field] for row in sides[side]] for side in (measuring.OLD, measuring.OURS))
        self.larger_is_better = larger_is_better

    def pairs(self):
        """For each round, the new build's cost divided by the old build's; values above 1 mean that the new build is worse."""
        pairs = [new / old for old, new in zip(self.old, self.new, strict=True) if old > 0 and new > 0]
        return [1 / pair for pair in pairs] if self.larger_is_better else pairs


def noise_of(pairs):
    """The noise of the ratios, as a share of 1; 0 for a figure that was measured once because it does not vary."""
    if len(pairs) < 2:
        return 0.0
    t = T_995[min(len(pairs) - 1, len(T_995)) - 1]
    return t * statistics.stdev(map(math.log, pairs)) / math.sqrt(len(pairs))


def judge(pairs):
    """Returns (ratio, noise, verdict), where the verdict is "worse", "better" or "" (within the noise)."""
    ratio, noise = statistics.median(pairs), noise_of(pairs)
    if abs(math.log(ratio)) <= noise:
        return ratio, noise, ""
    if ratio > 1 + WORSE_PERCENT / 100:
        return ratio, noise, "worse"
    if ratio < 1 / (1 + WORSE_PERCENT / 100):
        return ratio, noise, "better"
    return ratio, noise, ""


def compare(figures):
    """Prints the table and the notable differences; returns the figures that became worse."""
    rows, named = [], {"worse": [], "better": []}
    for figure in figures:
        pairs = figure.pairs()
        if not pairs:
            continue
        ratio, noise, verdict = judge(pairs)
        rows.append((figure.name, number(statistics.median(figure.old)), number(statistics.median(figure.new)),
                     f"{ratio:.3f}", f"{noise * 100:.1f} %", verdict))
        if verdict:
            named[verdict].append(f"{figure.name}: {abs(ratio - 1) * 100:.1f} % {verdict} (noise {noise * 100:.1f} %)")
    head = ("figure", "before", "now", "ratio (above 1: worse)", "noise", "beyond the noise")
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    print()
    for row in [head, *rows]:
        print("  ".join(cell.ljust(width) if column in (0, 5) else cell.rjust(width)
                        for column, (cell, width) in enumerate(zip(row, widths))).rstrip())
    print()
    for verdict, what in named.items():
        print(f"{verdict.upper()} by more than {WORSE_PERCENT} % and beyond the noise: " + ("; ".join(what) or "nothing"))
    return named["worse"]
