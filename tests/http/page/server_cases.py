"""Compares the page about the server with /api/stats, for a daemon that has written, flushed and merged."""
import json
import re
import subprocess
import time

from visit import case, check, equal

PATIENCE_S = 30
WRITTEN = 40000
GRAPHS = [("points written", "points/s", None), ("HTTP requests", "requests/s", None),
          ("latency, 95 of 100 requests", "ms", "http.latency_95pct type=all"), ("memory of the process", "", "jvm.ramused")]
METERS = [("points not in files yet", "storage.memory.bytes", "storage.memory.limit"),
          ("memory of queries", "query.memory type=taken", "query.memory type=limit")]
GROUPS = ["Store", "Work on files since the start", "Clients", "Names"]
# Some work of each kind, so that a 0 on the page is never a value that is merely unknown.
ABOVE_0 = ["storage.series", "storage.regions", "storage.files", "storage.files.bytes", "storage.flushes", "storage.flushes.bytes",
           "storage.merges", "storage.merges.bytes_read", "storage.merges.bytes_written", "connectionmgr.connections type=open",
           "connectionmgr.connections type=total", "http.query.success", "uid.ids-used kind=metrics", "uid.ids-used kind=tagk",
           "uid.ids-used kind=tagv"]
SIZES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
FIGURE = re.compile(r"(-?[0-9.]+) ?(" + "|".join(sorted(SIZES, key=len, reverse=True)) + r")")


def number(text):
    """The number that a person reads in "1.5 KiB" or "12.3k"; None if the figure is not known."""
    match = FIGURE.match(text)
    check(match, f"{text!r} is no figure")
    return float(match[1]) * SIZES[match[2]]


def statistics(connection):
    """Asks over one connection that stays open, so that asking does not change the number of connections."""
    connection.request("GET", "/api/stats")
    out = {}
    for point in json.load(connection.getresponse()):
        own = [f"{key}={value}" for key, value in point["tags"].items() if key not in ("host", "fqdn", "port", "class")]
        out[" ".join([point["metric"].removeprefix("tsd."), *own])] = float(point["value"])
    return out


def shown_anew(browser):
    """Waits until the page has asked for the figures once more."""
    browser.run("document.querySelector('#view-server .small-graph').firstChild.classList.add('old')")
    browser.wait("document.querySelector('#view-server .small-graph .old') === null")


def cards(browser):
    """Returns {title: figure with its unit} of the small graphs."""
    return dict(browser.run("[...document.querySelectorAll('#view-server output')].map((e) => [e.previousSibling.textContent, e.textContent])"))


def figures(browser):
    """Returns {name of the statistic: figure}."""
    shown = {name: number(text) for name, text in browser.run(
        "[...document.querySelectorAll('#view-server [data-name]')].map((e) => [e.dataset.name, e.textContent])")}
    said = cards(browser)
    shown.update((name, number(said[title])) for title, _, name in GRAPHS if name)
    meters = browser.run("[...document.querySelectorAll('#view-server .meter')].map((e) => e.textContent.trim())")
    for (title, taken, limit), text in zip(METERS, meters, strict=True):
        check(text.startswith(title + ": "), f"{text!r} is not {title}")
        value, _, most = text.removeprefix(title + ": ").partition(" of ")
        shown[taken] = number(value)
        if most:
            shown[limit] = number(most)
    return shown


def differences(before, shown, after):
    """Figures (of three digits) that do not lie between the answers of /api/stats before and after them."""
    for name, value in shown.items():
        low, high = sorted((before[name], after[name]))
        if not low * 0.99 - 0.5 <= value <= high * 1.01 + 0.5:
            yield f"{name} is shown as {value:g}, and was {low:g} to {high:g}"


def admin(visit, *words):
    done = subprocess.run([visit.daemon.tsdb, "admin", f"--url={visit.base.rstrip('/')}", *words], capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False)
    equal((done.returncode, done.stderr), (0, ""))


def write(visit, count):
    equal(visit.send("POST", "/api/put", [{"metric": "written", "timestamp": 1000000000 + i, "value": i, "tags": {"host": "a"}}
                                          for i in range(count)]), 204)


@case
def the_view_of_the_server_shows_what_the_server_says(visit):
    browser = visit.browser
    for _ in range(2):
        write(visit, 1000)
        admin(visit, "flush")
    admin(visit, "compact")
    visit.daemon.query(1000000000, "sum:written", 1000001000)
    visit.open("#view=server")
    browser.wait("document.querySelector('[data-name=\"storage.files\"]') !== null")
    equal(browser.run("[...document.querySelectorAll('#view-server .card b')].map((e) => e.textContent)"), GROUPS)

    # Rates are displayed from the second answer on. Answers are two seconds apart, which limits the rate caused by one batch.
    browser.wait("document.querySelector('#view-server output').textContent === '0 points/s'")
    write(visit, WRITTEN)
    written = number(browser.wait("(text => text !== '0 points/s' && text)(document.querySelector('#view-server output').textContent)"))
    check(0 < written <= WRITTEN / 1.9, f"{written} points/s of {WRITTEN} points")
    said = cards(browser)
    equal([(title, text.endswith(unit)) for (title, unit, _), text in zip(GRAPHS, said.values())], [(title, True) for title in said])
    check(0 < number(said["HTTP requests"]) < 100, said["HTTP requests"])

    asking, until = visit.daemon.connection(), time.monotonic() + PATIENCE_S
    while True:
        before = statistics(asking)
        shown_anew(browser)
        shown = figures(browser)
        wrong = list(differences(before, shown, statistics(asking)))
        if not wrong or time.monotonic() > until:  # memory and latency may lie outside of both answers once
            break
    asking.close()
    equal(wrong, [])
    equal([name for name in ABOVE_0 if not shown.get(name)], [])
    check(1 << 20 < shown["jvm.ramused"] < 64 << 30, f"{shown['jvm.ramused']} bytes of memory")
    check(shown["http.latency_50pct type=all"] <= shown["http.latency_95pct type=all"], "a half takes no longer than 95 of 100")
    equal(browser.run("document.querySelector('#view-server .message').hidden"), True)
