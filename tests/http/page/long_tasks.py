#!/usr/bin/env python3
"""Measures how long Chromium's main thread is blocked by 500 series of 1,000 points each. Not part of ./test, because the result depends on
the machine's speed.

    long_tasks.py --tsdb build/release/tsdb

Prints the tasks above 50 ms (the browser's own measure of what a person notices) while they are shown, while the pointer moves over
them, while one is hidden, and while a part is zoomed into.
"""
import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from looking import looking  # noqa: E402
from visit import DATA, MANY, Visit  # noqa: E402

SETTLED_S = 1
MOVES = 60


def report(browser, what):
    time.sleep(SETTLED_S)
    print(f"{what}: {browser.run('window.tasks.splice(0)')} ms; {browser.run('document.querySelector(`#facts`).firstChild.textContent')}")


def measure(visit):
    browser = visit.browser
    visit.open()
    browser.run("""(() => { window.tasks = [];
        new PerformanceObserver((list) => list.getEntries().forEach((task) => window.tasks.push(Math.round(task.duration))))
            .observe({ type: 'longtask' }); })()""")
    address = "#start=1000000000&end=1000000999&m=none:1s-avg-zero:many"
    browser.run(f"location.hash = {json.dumps(address)}")
    visit.series(MANY)
    report(browser, "shown")
    left, top, width, height = browser.box("#chart .u-over")
    for i in range(MOVES):
        browser.mouse("mouseMoved", left + width * (0.2 + 0.6 * i / MOVES), top + height / 2)
    report(browser, f"{MOVES} moves of the pointer")
    browser.click("#legend tbody tr:nth-child(3) button")
    report(browser, "one hidden")
    browser.drag("#chart .u-over", 0.3, 0.5)
    browser.wait(f"{DATA}[0].length < 400")
    report(browser, "zoomed")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    with looking(parser.parse_args().tsdb) as (daemon, browser):
        visit = Visit(daemon, browser)
        visit.fill()
        measure(visit)


if __name__ == "__main__":
    main()
