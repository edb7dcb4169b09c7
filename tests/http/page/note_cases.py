"""Annotations written on the page: at times chosen on the graph, by keyboard, and not by users who lack the permission."""
import base64
import functools
import json
import subprocess
import tempfile
import time
from pathlib import Path

from daemon import Daemon
from visit import case, check, equal

SHIFT = 8
FORM = "document.querySelector('#notes form')"
SAID = "document.querySelector('#notes .message').textContent"
DESCRIBED = "document.querySelector('#notes .description').value"
FOCUSED = "document.activeElement.className"


def saving(function):
    """Marks a case that saves at an unused time: the browser complains about the 404 that says that the time is unused."""
    @functools.wraps(function)
    def saves(visit):
        function(visit)
        free = f"{visit.base}api/annotation?start_time="
        visit.browser.complaints[:] = [text for text in visit.browser.complaints if not (" 404 " in text and free in text)]
    return saves


def notes_of(visit):
    """The global annotations of the hour, by their descriptions."""
    return {note["description"]: note for note in visit.daemon.get(f"/api/annotations?start_time={visit.now - 7200}")}


def begin(visit):
    visit.open(f"#start={visit.now - 3600}000&end={visit.now}000&m=sum:1m-avg:room.temp")
    visit.series(1)
    visit.browser.wait("document.querySelector('#notes .add-note')?.getClientRects().length > 0")


def click_at(visit, ago_s, modifiers=0):
    """Clicks on the graph at the given number of seconds ago."""
    x, y = visit.browser.run(f"""(() => {{ const {{ plot }} = document.querySelector('#chart').chart; const r = plot.over.getBoundingClientRect();
        return [r.left + plot.valToPos({visit.now - ago_s}, 'x'), r.top + r.height / 2]; }})()""")
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        visit.browser.mouse(kind, x, y, modifiers=modifiers)


def chosen(visit, name):
    """The time in a field of the form, in seconds since the epoch."""
    return visit.browser.run(f"new Date({FORM}.querySelector('.{name}').value).getTime() / 1000")


def type_time(visit, name, seconds):
    """Types a time into a field of the form; the browser of these cases uses UTC."""
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    visit.browser.run(f"""(() => {{ const e = {FORM}.querySelector('.{name}'); e.value = '{text}';
        e.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()""")


def fail_once(visit, method):
    """Makes the next request with that method fail with the error 'not now'."""
    visit.browser.run(f"""(() => {{ const real = fetch; window.fetch = (path, options) => {{
        if (options?.method !== '{method}') return real(path, options);
        window.fetch = real;
        return Promise.resolve(new Response('{{"error":{{"message":"not now"}}}}', {{ status: 503 }})); }}; }})()""")


def hold(visit, refuse=False):
    """Holds the next request for annotations until goOn() is called; then it goes to the server or fails with 'not now'."""
    visit.browser.run(f"""(() => {{ const real = fetch; window.held = 0; window.fetch = (path, options) => {{
        if (options?.method !== 'PUT') return real(path, options);
        window.fetch = real;
        window.held = 1;
        return new Promise((done) => (window.goOn = done)).then(() => {'true' if refuse else 'false'}
            ? new Response('{{"error":{{"message":"not now"}}}}', {{ status: 503 }}) : real(path, options)); }}; }})()""")


def listed(visit, text):
    visit.browser.wait(f"[...document.querySelectorAll('#notes li')].some((e) => e.textContent.includes({json.dumps(text)}))"
                       f" && {FORM}.hidden")


@case
@saving
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
@saving
def an_annotation_is_changed_and_deleted(visit):
    browser = visit.browser
    # Accurate to a millisecond, with a field that the form does not show.
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
    # A change of the time creates another annotation.
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
@saving
def the_keyboard_is_enough_to_write_an_annotation(visit):
    browser = visit.browser
    begin(visit)
    # At the position of the pointer.
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
@saving
def what_cannot_be_saved_is_said_and_stays_in_the_form(visit):
    browser = visit.browser
    begin(visit)
    browser.click("#notes .add-note")
    click_at(visit, 600)
    click_at(visit, 900, SHIFT)
    browser.click("#notes .description")
    browser.type("backwards")
    browser.key("Enter")
    browser.wait(f"{SAID} === 'The end is before the beginning'")
    click_at(visit, 300, SHIFT)
    browser.run("""(() => { const real = fetch; window.fetch = (path, options) => options?.method === 'PUT'
        ? Promise.resolve(new Response('{"error":{"code":503,"message":"memory is over its budget"}}', { status: 503 })) : real(path, options); })()""")
    browser.click("#notes .save")
    browser.wait(f"{SAID} === 'memory is over its budget'")
    equal(browser.run("document.querySelector('#notes .description').value"), "backwards")
    # A new answer must not discard what is being typed.
    browser.run("window.before = document.querySelector('#chart').chart.columns, document.activeElement.blur()")
    browser.key("r")
    browser.wait("document.querySelector('#chart').chart.columns !== window.before")
    equal(browser.run("document.querySelector('#notes .description').value"), "backwards")
    browser.click("#notes .cancel")
    equal(browser.run(f"{FORM}.hidden"), True)


@case
@saving
def another_annotation_at_the_same_time_is_not_written_over(visit):
    browser = visit.browser
    at = visit.now - 1501
    for ago, text in ((1501, "was first"), (1401, "comes second")):
        equal(visit.send("POST", "/api/annotation", {"startTime": visit.now - ago, "description": text, "notes": "kept"}), 200)
    begin(visit)

    def refused():
        browser.wait(f"{SAID}.startsWith('There is an annotation at this time already') && {SAID}.includes('was first')")
        equal(browser.run(f"{FORM}.hidden"), False)
        notes = notes_of(visit)
        equal([notes[text]["startTime"] for text in ("was first", "comes second")], [at, at + 100])

    # A new annotation.
    browser.click("#notes .add-note")
    type_time(visit, "from", at)
    browser.click("#notes .description")
    browser.type("unknowing")
    browser.key("Enter")
    refused()
    browser.click("#notes .cancel")
    # An annotation that is moved to an occupied time.
    browser.click("[aria-label='Change comes second']")
    type_time(visit, "from", at)
    browser.click("#notes .save")
    refused()
    # Within the same second its time stays unchanged, to the millisecond.
    browser.click("#notes .cancel")
    exact = {"startTime": (at - 100) * 1000, "description": "whole"}
    equal(visit.send("POST", "/api/annotation", exact), 200)
    browser.run("document.activeElement.blur()")
    browser.key("r")
    browser.click("[aria-label='Change whole']")
    click_at(visit, 900)
    type_time(visit, "from", at - 100)
    browser.key("Enter")
    browser.wait(f"{FORM}.hidden")
    equal(notes_of(visit)["whole"]["startTime"], exact["startTime"])
    browser.click("[aria-label='Change comes second']")
    # The time that an annotation already has counts as free for it, also after a move that failed halfway.
    type_time(visit, "from", at + 50)
    fail_once(visit, "DELETE")
    browser.click("#notes .save")
    browser.wait(f"{SAID} === 'not now'")
    browser.click("#notes .save")
    browser.wait(f"{FORM}.hidden")
    notes = visit.daemon.get(f"/api/annotations?start_time={at}&end_time={at + 100}")
    equal([note["startTime"] for note in notes if note["description"] in ("was first", "comes second")], [at, at + 50])


@case
@saving
def a_click_on_the_graph_leaves_what_is_typed_and_where(visit):
    browser = visit.browser
    begin(visit)
    browser.click("#notes .add-note")
    browser.type("half a sen")
    click_at(visit, 2400)
    equal(browser.run(FOCUSED), "description")
    browser.type("tence")
    equal(browser.run(DESCRIBED), "half a sentence")
    begun = chosen(visit, "from")
    # The key for a new annotation works when the focus is in no text field.
    browser.run("document.activeElement.blur()")
    browser.key("n")
    equal((browser.run(DESCRIBED), browser.run(FOCUSED), chosen(visit, "from")), ("half a sentence", "description", begun))
    browser.key("Escape")
    equal(browser.run(f"{FORM}.hidden"), True)


@case
def an_answer_closes_only_the_form_that_was_saved(visit):
    browser = visit.browser
    for ago, text in ((2101, "slow one"), (2001, "other one")):
        equal(visit.send("POST", "/api/annotation", {"startTime": visit.now - ago, "description": text}), 200)
    begin(visit)
    browser.click("[aria-label='Change slow one']")
    browser.click("#notes .notes")
    browser.type("late")
    hold(visit)
    browser.click("#notes .save")
    browser.wait("window.held === 1")
    browser.click("[aria-label='Change other one']")
    browser.run("window.goOn()")
    browser.wait("document.querySelector('#notes li[title=late]') !== null")
    equal((browser.run(f"{FORM}.hidden"), browser.run(DESCRIBED)), (False, "other one"))
    equal(browser.run(f"[...{FORM}.querySelectorAll('button')].some((button) => button.disabled)"), False)
    # An error is displayed even if another annotation is being written meanwhile.
    hold(visit, refuse=True)
    browser.click("#notes .save")
    browser.wait("window.held === 1")
    browser.click("[aria-label='Change slow one']")
    browser.run("window.goOn()")
    browser.wait(f"{SAID} === 'other one: not now'")
    equal(browser.run(DESCRIBED), "slow one")


@case
def escape_does_not_hide_that_a_save_was_refused(visit):
    browser = visit.browser
    equal(visit.send("POST", "/api/annotation", {"startTime": visit.now - 2201, "description": "escapes"}), 200)
    begin(visit)
    browser.click("[aria-label='Change escapes']")
    hold(visit, refuse=True)
    browser.key("Enter")
    browser.wait("window.held === 1")
    browser.key("Escape")
    browser.run("window.goOn()")
    browser.wait(f"{SAID} === 'not now'")
    equal(browser.run(f"{FORM}.hidden"), False)
    browser.key("Escape")
    equal(browser.run(f"{FORM}.hidden"), True)


@case
@saving
def the_hour_that_autumn_repeats_is_written_as_it_was_clicked(visit):
    browser = visit.browser
    # In Berlin the hour from 02:00 to 03:00 occurs twice; this is the boundary between both.
    repeats = 1761440400
    points = [{"metric": "autumn", "timestamp": repeats + 60 * i, "value": 1, "tags": {"host": "s0"}} for i in range(-60, 61)]
    equal(visit.send("POST", "/api/put", points), 204)
    browser.at_zone("Europe/Berlin")
    try:
        visit.open(f"#start={repeats - 3600}000&end={repeats + 3600}000&m=sum:1m-avg:autumn")
        visit.series(1)
        browser.wait("document.querySelector('#notes .add-note')?.getClientRects().length > 0")
        browser.click("#notes .add-note")
        click_at(visit, visit.now - (repeats - 900))
        click_at(visit, visit.now - (repeats + 900), SHIFT)
        marked = [ms / 1000 for ms in browser.run("document.querySelector('#chart').chart.marked")]
        check(all(abs(ms - at) <= 20 for ms, at in zip(marked, (repeats - 900, repeats + 900))), f"{marked} around {repeats}")
        browser.type("clocks go back")
        browser.key("Enter")
        listed(visit, "clocks go back")
        # Fields that were not changed keep their values.
        browser.click("[aria-label='Change clocks go back']")
        browser.click("#notes .notes")
        browser.type("an hour")
        browser.key("Enter")
        browser.wait("document.querySelector('#notes li[title=\"an hour\"]') !== null")
    finally:
        browser.at_zone("")
    notes = visit.daemon.get(f"/api/annotations?start_time={repeats - 3600}&end_time={repeats + 3600}")
    equal([[note["startTime"], note["endTime"]] for note in notes], [marked])


@case
def a_description_of_blanks_is_refused(visit):
    browser = visit.browser
    begin(visit)
    browser.click("#notes .add-note")
    browser.type("   ")
    browser.key("Enter")
    browser.wait(f"{SAID} === 'What happened is blank'")
    equal(browser.run(f"{FORM}.hidden"), False)
    check("" not in notes_of(visit), "nothing is written")


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
    """A daemon with users, so that requests need a password."""

    def get(self, path, timeout=60):
        # 401 also shows that the daemon has started.
        try:
            return super().get(path, timeout)
        except RuntimeError as refused:
            if refused.status == 503:
                raise
            return None
