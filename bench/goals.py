"""The goals of ../shared/spec/performance.md §6 ("Must") and what a run says about them."""
import math


class Goal:
    """measured(data) -> a number of the part's data; it holds if it is at_least or at_most the bound. What the run has
    left out (a load, a peer) makes measured fail with KeyError, IndexError or TypeError: the goal then reads "not run"."""

    def __init__(self, text, measured, at_least=None, at_most=None, unit=""):
        self.text, self.measured, self.at_least, self.at_most, self.unit = text, measured, at_least, at_most, unit

    def judge(self, data):
        """(what was measured, "met", "missed" or "not run")."""
        try:
            value = self.measured(data)
        except (KeyError, IndexError, TypeError):
            return "", "not run"
        if value is None or math.isnan(value):
            return "", "not run"
        holds = value >= self.at_least if self.at_least is not None else value <= self.at_most
        return f"{number(value)} {self.unit}".strip(), "met" if holds else "**missed**"


def number(value):
    """Three digits that count, no more."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def judged(parts, result_of):
    """(goal, what was measured, verdict, part) of each; parts: {name: module}; result_of(name) -> what was kept or None."""
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
    """[(beginnings of goals' texts, why)] of reasons.md: each heading names the goals, the text below it says why."""
    reasons = []
    for part in text.split("\n## ")[1:]:
        heading, _, why = part.partition("\n")
        reasons.append(([begin.strip() for begin in heading.split(";")], why.strip()))
    return reasons


def why_missed(parts, result_of, reasons):
    """What is known of each goal that is missed now, one paragraph for those that share a reason."""
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
