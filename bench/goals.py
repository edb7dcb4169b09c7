"""The goals of performance.md §6 ("Must"), and whether a run meets them."""
import math


class Goal:
    """measured(data) -> a number of the part's data; it holds if it is at_least or at_most the bound. What the run has
    left out (a load, a peer) makes measured fail with KeyError, IndexError or TypeError: the goal then reads "not run"."""

    def __init__(self, text, measured, at_least=None, at_most=None, unit=""):
        self.text, self.measured, self.at_least, self.at_most, self.unit = text, measured, at_least, at_most, unit

    def judge(self, data):
        """Returns (what was measured, verdict), where the verdict is "met", "missed" or "not run"."""
        try:
            value = self.measured(data)
        except (KeyError, IndexError, TypeError):
            return "", "not run"
        if value is None or math.isnan(value):
            return "", "not run"
        holds = value >= self.at_least if self.at_least is not None else value <= self.at_most
        return f"{number(value)} {self.unit}".strip(), "met" if holds else "**missed**"


def number(value):
    """The number as text with three significant digits."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def judged(parts, result_of):
    """Returns (goal, measurement, verdict, part) for each goal; parts: {name: module}; result_of(name): the stored result or None."""
    for name, module in parts.items():
        result = result_of(name)
        for goal in module.GOALS:
            yield (goal, *goal.judge(result["data"] if result else {}), name)


def table(parts, result_of):
    lines = ["| goal | measured | | part |", "| --- | --- | --- | --- |"]
    counted = {"met": 0, "**missed**": 0, "not run": 0}
    for goal, measured, verdict, name in judged(parts, result_of):
        counted[verdict] += 1
        lines.append(f"| {goal.text} | {measured} | {verdict} | {name} |")
    return (f"{counted['met']} met, {counted['**missed**']} missed, {counted['not run']} not run.\n\n" + "\n".join(lines))


def read_reasons(text):
    """Reads docs/internals/missed-goals.md into [(beginnings of the goals' texts, reason)]: each heading names goals, the text below it explains them."""
    reasons = []
    for part in text.split("\n## ")[1:]:
        heading, _, why = part.partition("\n")
        reasons.append(([begin.strip() for begin in heading.split(";")], why.strip()))
    return reasons


def why_missed(parts, result_of, reasons):
    """The known reason for each goal that is missed now; goals with the same reason share a paragraph."""
    missed = [(goal.text, measured) for goal, measured, verdict, _ in judged(parts, result_of) if verdict == "**missed**"]
    lines = []
    for begins, why in reasons:
        mine = [one for one in missed if one[0].startswith(tuple(begins))]
        missed = [one for one in missed if one not in mine]
        if mine:
            lines += [f"- {text} ({measured})" for text, measured in mine] + ["", why, ""]
    if missed:
        lines += [f"- {text} ({measured})" for text, measured in missed] + ["", "Not looked into yet.", ""]
    return "\n".join(lines).strip()
