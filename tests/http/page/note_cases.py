"""Annotations are written on the page: at times chosen on the graph, by the keyboard, and by nobody who may not."""
import base64
import json
import subprocess
import tempfile
from pathlib import Path

from daemon import Daemon
from visit import case, check, equal

SHIFT = 8
FORM = "document.querySelector('#notes form')"


def notes_of(visit):
    """The global annotations of the hour, by their descriptions."""
    return {note["description"]: note for note in visit.daemon.get(f"/api/annotations?start_time={visit.now - 7200}")}


def begin(visit):
    visit.open(f"#start={visit.now - 3600}000&end={visit.now}000&m=sum:1m-avg:room.temp")
    visit.series(1)
    visit.browser.wait("document.querySelector('#notes .add-note')?.getClientRects().length > 0")


def click_at(visit, ago_s, modifiers=0):
    """On the graph, so many seconds ago."""
    x, y = visit.browser.run(f"""(() => {{ const {{ plot }} = document.querySelector('#chart').chart; const r = plot.over.getBoundingClientRect();
        return [r.left + plot.valToPos({visit.now - ago_s}, 'x'), r.top + r.height / 2]; }})()""")
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        visit.browser.mouse(kind, x, y, modifiers=modifiers)


def chosen(visit, name):
    """Seconds since the epoch in a field of the form."""
    return visit.browser.run(f"new Date({FORM}.querySelector('.{name}').value).getTime() / 1000")


def listed(visit, text):
    visit.browser.wait(f"[...document.querySelectorAll('#notes li')].some((e) => e.textContent.includes({json.dumps(text)}))"
                       f" && {FORM}.hidden")


@case
def an_annotation_is_written_where_the_graph_was_clicked(visit):
    browser = visit.browser
    begin(visit)
    browser.click("#notes .add-note")
    equal(browser.run("document.activeElement.className"), "description")
    equal(chosen(visit, "from"), visit.now)
    click_at(visit, 1800)
    begun = chosen(visit, "from")
    check(abs(begun - (visit.now - 1800)) <= 10, f"{begun} was clicked, of {visit.now - 1800}")
    click_at(visit, 900, SHIFT)
    ended = chosen(visit, "to")
    check(abs(ended - (visit.now - 900)) <= 10, f"{ended} was clicked, of {visit.now - 900}")
    equal(chosen(visit, "from"), begun)
    equal(browser.run("document.querySelector('#chart').chart.marked"), [begun * 1000, ended * 1000])
    browser.click("#notes .description")
    browser.type("pump <i>2</i> off")
    browser.click("#notes .notes")
    browser.type("for cleaning")
    browser.click("#notes .save")
    listed(visit, "pump <i>2</i> off")
    equal(browser.run("document.querySelector('#notes li i')"), None)
    equal(browser.run("document.querySelector('#chart').chart.marked"), None)
    equal(browser.run("document.querySelector('#chart').chart.columns.annotations.map((one) => one.startMs)").count(begun * 1000), 1)
    equal(notes_of(visit)["pump <i>2</i> off"], {"tsuid": "", "description": "pump <i>2</i> off", "notes": "for cleaning",
                                                 "startTime": begun, "endTime": ended})


@case
def an_annotation_is_changed_and_deleted(visit):
    browser = visit.browser
    # Exact to a millisecond, with a field that the form does not show.
    exact = {"startTime": (visit.now - 1200) * 1000 + 7, "description": "valve open", "custom": {"by": "guard"}}
    equal(visit.send("POST", "/api/annotation", exact), 200)
    begin(visit)
    listed(visit, "valve open")
    change = "[aria-label^='Change valve']"
    browser.click(change)
    browser.click("#notes .notes")
    browser.type("by hand")
    browser.key("Enter")
    browser.wait("document.querySelector('#notes li[title=\"by hand\"]') !== null")
    note = visit.daemon.post("/api/annotation", {"startTime": exact["startTime"], "endTime": 0, "description": "valve open"})
    equal((note["notes"], note["custom"]), ("by hand", {"by": "guard"}))
    # To another time, which is another annotation.
    browser.click(change)
    click_at(visit, 600)
    moved = chosen(visit, "from")
    browser.click("#notes .save")
    browser.wait(f"document.querySelector('#chart').chart.columns?.annotations.some((one) => one.startMs === {moved * 1000})")
    browser.wait(f"!document.querySelector('#chart').chart.columns.annotations.some((one) => one.startMs === {exact['startTime']})")
    browser.click(change)
    browser.click("#notes .delete")
    browser.wait(f"document.querySelector({json.dumps(change)}) === null && {FORM}.hidden")
    check("valve open" not in notes_of(visit), "it is deleted on the server, too")


@case
def the_keyboard_is_enough_to_write_an_annotation(visit):
    browser = visit.browser
    begin(visit)
    # Where the pointer is.
    x, y, at = browser.run(f"""(() => {{ const {{ plot }} = document.querySelector('#chart').chart; const r = plot.over.getBoundingClientRect();
        return [r.left + plot.valToPos({visit.now} - 300, 'x'), r.top + 20, {visit.now} - 300]; }})()""")
    browser.mouse("mouseMoved", x, y)
    browser.key("n")
    check(abs(chosen(visit, "from") - at) <= 10, "it begins under the pointer")
    browser.type("n is a letter here")
    browser.key("Escape")
    equal(browser.run(f"{FORM}.hidden"), True)
    browser.key("n")
    equal(browser.run("document.querySelector('#notes .description').value"), "")
    browser.type("typed alone")
    browser.key("Enter")
    listed(visit, "typed alone")
    equal(visit.send("DELETE", "/api/annotation", {"startTime": notes_of(visit)["typed alone"]["startTime"]}), 204)


@case
def what_cannot_be_saved_is_said_and_stays_in_the_form(visit):
    browser = visit.browser
    begin(visit)
    browser.click("#notes .add-note")
    click_at(visit, 600)
    click_at(visit, 900, SHIFT)
    browser.click("#notes .description")
    browser.type("backwards")
    browser.key("Enter")
    said = "document.querySelector('#notes .message').textContent"
    browser.wait(f"{said} === 'The end is before the beginning'")
    click_at(visit, 300, SHIFT)
    browser.run("""(() => { const real = fetch; window.fetch = (path, options) => options?.method === 'PUT'
        ? Promise.resolve(new Response('{"error":{"code":503,"message":"memory is over its budget"}}', { status: 503 })) : real(path, options); })()""")
    browser.click("#notes .save")
    browser.wait(f"{said} === 'memory is over its budget'")
    equal(browser.run("document.querySelector('#notes .description').value"), "backwards")
    # A new answer does not take away what is being typed.
    browser.run("window.before = document.querySelector('#chart').chart.columns, document.activeElement.blur()")
    browser.key("r")
    browser.wait("document.querySelector('#chart').chart.columns !== window.before")
    equal(browser.run("document.querySelector('#notes .description').value"), "backwards")
    browser.click("#notes .cancel")
    equal(browser.run(f"{FORM}.hidden"), True)


@case
def who_may_only_read_is_not_offered_to_write(visit):
    browser = visit.browser
    with tempfile.TemporaryDirectory(prefix="hourglass-page-") as folder:
        users = Path(folder) / "users"
        for name, roles in (("ann", "read"), ("bob", "read,write")):
            subprocess.run([visit.daemon.tsdb, "user", "--file", users, "add", name, roles], input="a long password\n", text=True,
                           check=True, capture_output=True)

        def fields(name):
            return {"Authorization": "Basic " + base64.b64encode(f"{name}:a long password".encode()).decode()}

        guarded = Guarded(visit.daemon.tsdb, folder, {"tsd.core.authentication.enable": "true", "tsd.core.authentication.users": users})
        guarded.start()
        try:
            for body, path in (({"metric": "m", "timestamp": visit.now - 60, "value": 1, "tags": {"a": "b"}}, "/api/put"),
                               ({"startTime": visit.now - 120, "description": "seen by all"}, "/api/annotation")):
                connection = guarded.connection()
                connection.request("POST", path, json.dumps(body), fields("bob"))
                check(connection.getresponse().status in (200, 204), path)
                connection.close()
            for name, offered in (("ann", False), ("bob", True)):
                browser.say_always(fields(name))
                browser.open(f"http://127.0.0.1:{guarded.port}/#m=none:m")
                browser.wait("document.querySelector('#notes li') !== null")
                browser.wait(f"(document.querySelector('#notes .edit-note') !== null) === {json.dumps(offered)}")
                browser.key("n")
                equal(browser.run(f"{FORM}.hidden"), not offered)
                equal(browser.run("document.querySelector('#notes .add-note').getClientRects().length > 0"), offered)
        finally:
            browser.say_always({})
            guarded.stop()
        browser.requests[:] = [url for url in browser.requests if f":{guarded.port}/" not in url]


class Guarded(Daemon):
    """Users are asked for."""

    def get(self, path, timeout=60):
        # 401 is an answer, too: it has started.
        try:
            return super().get(path, timeout)
        except RuntimeError as refused:
            if refused.status == 503:
                raise
            return None
