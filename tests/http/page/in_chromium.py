#!/usr/bin/env python3
"""The page as people use it: Chromium opens it from a daemon on this machine, clicks, drags, types, and looks.

    in_chromium.py --tsdb build/release/tsdb [--only TEXT]

Every case begins with a page just opened; after each the browser must have complained about nothing (no breach of the page's
Content-Security-Policy, no exception), and asked nobody but the daemon. The last line reads "N passed, N failed".
"""
import argparse
import http.client
import json
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from chromium import Chromium  # noqa: E402
from daemon import Daemon  # noqa: E402
from visit import DATA, HOSTS, MANY, Visit, check, equal  # noqa: E402

CASES = []


def case(function):
    CASES.append(function)
    return function


@case
def a_query_is_clicked_together(visit):
    browser = visit.browser
    visit.open()
    browser.click("[data-metric='room.temp'] .name")
    equal(len(visit.series(1)), 1)
    browser.choose(".aggregator", "max")
    browser.choose(".interval", "1m")
    browser.click(".add-filter")
    browser.type("site")
    browser.key("Enter")
    b1, b2 = visit.series(2)
    equal(visit.hash(), "#start=1h-ago&m=max:1m-avg:room.temp{site=*}")
    newest = browser.run(f"{DATA}[0].at(-1)")
    equal(newest, visit.now)
    equal(b1[::-1][:20], [visit.temperature(1, i) for i in range(20)])
    equal(b2[::-1][:20], [visit.temperature(3, i) for i in range(20)])
    equal(browser.run("[...document.querySelectorAll('button.series')].map((e) => e.textContent)"), ["site=b1", "site=b2"])


@case
def tags_are_shown_with_counts_and_clicked(visit):
    browser = visit.browser
    visit.open()
    browser.click("[data-metric='room.temp'] .name")
    browser.wait("document.querySelectorAll('.tags details').length === 2")
    equal(browser.run("document.querySelector('.tags p').textContent"), "4 series")
    equal(browser.run("[...document.querySelectorAll('.tags details')].map((e) => e.dataset.key + ':' + e.querySelector('summary span').textContent.trim())"),
          ["host:4 values", "site:2 values"])
    equal(browser.run("[...document.querySelectorAll('[data-key=site] li')].map((e) => e.textContent)"), ["b12", "b22"])
    browser.click("[data-key=host] .key")
    visit.series(4)
    browser.click("[data-key=host] li:nth-child(1) .value")
    visit.series(1)
    browser.click("[data-key=host] li:nth-child(3) .value")
    visit.series(2)
    equal(visit.hash(), "#start=1h-ago&m=sum:auto-avg:room.temp{host=s0|s2}")
    browser.click("[data-key=host] li:nth-child(1) .value")
    browser.click("[data-key=host] li:nth-child(3) .value")
    visit.series(1)
    equal(visit.hash(), "#start=1h-ago&m=sum:auto-avg:room.temp")


@case
def several_sub_queries_share_a_graph(visit):
    browser = visit.browser
    visit.open("#start=1h-ago&m=sum:1m-avg:room.temp")
    visit.series(1)
    browser.click("[data-metric='net.bytes'] .more")
    visit.series(2)
    browser.click(".sub:nth-child(2) .check input")
    browser.wait("location.hash.includes('rate')")
    _, rate = visit.series(2)
    equal({value for value in rate if value is not None}, {100})
    browser.click(".sub:nth-child(1) button[title^=Remove]")
    visit.series(1)
    equal(visit.hash(), "#start=1h-ago&m=sum:auto-avg:rate:net.bytes")


@case
def the_right_axis_has_a_scale_of_its_own(visit):
    browser = visit.browser
    visit.open("#start=1h-ago&m=sum:1m-avg:room.temp&m=sum:1m-avg:net.bytes")
    visit.series(2)
    browser.click(".sub:nth-child(2) .deeds input")
    browser.wait("location.hash.includes('o=axis')")
    visit.series(2)
    scales = browser.run("(({y, right}) => [y.max, right.max])(document.querySelector('#chart').chart.plot.scales)")
    check(scales[0] < 200 < 100000 < scales[1], f"the scales end at {scales}")


@case
def five_hundred_series_of_a_thousand_points(visit):
    browser = visit.browser
    visit.open("#start=1000000000&end=1000000999&m=none:1s-avg-zero:many")
    visit.series(MANY)
    equal(browser.run(f"{DATA}.reduce((sum, column) => sum + column.length, 0)"), 1000 * (MANY + 1))
    equal(browser.run("document.querySelectorAll('#legend tbody tr').length"), MANY)
    equal(browser.run("document.querySelector('#facts').firstChild.textContent").split(" ms")[0].rsplit(",", 1)[0], f"{MANY} series, {MANY * 1000} points")
    browser.drag("#chart .u-over", 0.4, 0.6)
    browser.wait(f"{DATA}[0].length < 300")
    visit.series(MANY)


@case
def the_pointer_tells_the_nearest_point(visit):
    browser = visit.browser
    visit.open("#start=1h-ago&m=none:room.temp")
    visit.series(HOSTS)
    # Where the newest but 30th point of the third series is drawn.
    x, y, time_s = browser.run("""(() => { const { plot } = document.querySelector('#chart').chart; const i = plot.data[0].length - 31;
        const box = plot.over.getBoundingClientRect();
        return [box.left + plot.valToPos(plot.data[0][i], 'x'), box.top + plot.valToPos(plot.data[3][i], 'y'), plot.data[0][i]]; })()""")
    browser.mouse("mouseMoved", x, y - 1)
    said = browser.wait("!document.querySelector('.tip').hidden && document.querySelector('.tip').innerText")
    check(said.startswith(f"{visit.temperature(2, 30):g} host=s2 site=b2"), said)
    check(time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(time_s)) in said, said)
    equal(browser.run("document.querySelector('#legend .pointed button').textContent"), "host=s2 site=b2")


@case
def a_range_is_chosen_moved_and_widened(visit):
    browser = visit.browser
    visit.open("#start=1h-ago&m=sum:1m-avg:room.temp")
    visit.series(1)
    browser.choose(".range", "15m-ago")
    browser.wait("location.hash.startsWith('#start=15m-ago')")
    browser.wait(f"{DATA}[0].length <= 16")
    browser.choose(".range", "custom")
    day = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(visit.now - 1800))
    browser.run(f"document.querySelector('#times .from').value = {json.dumps(day)}")
    browser.click("#times form button")
    browser.wait(f"location.hash.startsWith('#start={visit.now - 1800}000&end=')")
    start, end = (int(word) for word in browser.run("location.hash.match(/start=(\\d+)&end=(\\d+)/).slice(1)"))
    browser.click("#times button[title^=Earlier]")
    browser.wait(f"location.hash.startsWith('#start={start - round((end - start) / 2)}')")
    browser.key("-")
    browser.wait("location.hash.match(/end=(\\d+)/)[1] - location.hash.match(/start=(\\d+)/)[1] > " + str((end - start) * 1.9))


@case
def only_points_of_some_values_are_shown(visit):
    browser = visit.browser
    visit.open("#start=1h-ago&m=none:room.temp{host=s0}")
    visit.series(1)
    browser.click(".value-filter")
    browser.type(">22")
    browser.key("Enter")
    browser.wait("location.hash.includes('value')")
    (values,) = visit.series(1)
    equal(sorted({value for value in values if value is not None}), [22.5, 23])


@case
def an_address_of_q_leads_here(visit):
    visit.browser.open(visit.base + "q?start=1h-ago&m=sum:1m-avg:room.temp%7Bsite=*%7D&o=&wxh=800x400")
    equal(len(visit.series(2)), 2)


@case
def what_others_wrote_neither_runs_nor_is_fetched(visit):
    browser = visit.browser
    visit.open()
    # What would have to go wrong in the page first; here the browser has to hold it.
    browser.run("""(() => { const script = document.createElement('script'); script.textContent = 'window.ran = true';
        const image = new Image(); image.src = 'http://127.0.0.1:9/x.png'; document.body.append(script, image); })()""")
    equal(browser.run("window.ran"), None)
    browser.hear(2)
    refused = [text for text in browser.complaints if "Content Security Policy" in text]
    check(len(refused) == 2, f"a script and an image are refused: {browser.complaints}")
    browser.complaints.clear()
    browser.requests[:] = [url for url in browser.requests if "x.png" not in url]


@case
def an_address_shows_what_was_shared(visit):
    browser = visit.browser
    visit.open("#start=2h-ago&m=none:room.temp{site=b2}&m=sum:1m-avg:rate{counter}:net.bytes")
    series = visit.series(3)
    equal(browser.run("[...document.querySelectorAll('button.series')].map((e) => e.textContent)"),
          ["A room.temp host=s2 site=b2", "A room.temp host=s3 site=b2", "B net.bytes host=s0"])
    equal({value for value in series[2] if value is not None}, {100})
    equal(browser.run("[...document.querySelectorAll('.metric')].map((e) => e.value)"), ["room.temp", "net.bytes"])
    equal(browser.run("document.querySelectorAll('.sub')[1].querySelectorAll('[type=checkbox]')[1].checked"), True)
    browser.run("window.before = true, location.reload()")
    browser.wait("!window.before && document.readyState === 'complete'")
    visit.series(3)


@case
def dragging_zooms_and_back_goes_back(visit):
    browser = visit.browser
    before = "#start=1h-ago&m=sum:1m-avg:room.temp"
    visit.open(before)
    visit.series(1)
    browser.drag("#chart .u-over", 0.25, 0.5)
    browser.wait("location.hash.includes('end=')")
    visit.series(1)
    first, last = browser.run(f"[{DATA}[0][0], {DATA}[0].at(-1)]")
    words = dict(urllib.parse.parse_qsl(visit.hash()[1:]))
    start, end = int(words["start"]) / 1000, int(words["end"]) / 1000
    check(14 * 60 <= end - start <= 16 * 60, f"a quarter of an hour was dragged over, not {end - start} s")
    check(start <= first and last <= end, "points lie in the range")
    browser.run("history.back()")
    browser.wait(f"location.hash === {json.dumps(before)}")
    browser.wait(f"{DATA}[0].length > 50")


@case
def the_request_can_be_copied(visit):
    browser = visit.browser
    visit.open("#start=1h-ago&m=avg:1m-avg:room.temp{host=literal_or(s0)}")
    visit.series(1)
    browser.click("#request summary")
    body = json.loads(browser.run("document.querySelector('#json').textContent"))
    equal(body["queries"], [{"metric": "room.temp", "aggregator": "avg", "downsample": "1m-avg",
                             "filters": [{"tagk": "host", "type": "literal_or", "filter": "s0", "groupBy": True}]}])
    connection = visit.daemon.connection()
    connection.request("POST", "/api/query?arrays", json.dumps(body))
    answer = json.load(connection.getresponse())
    equal(answer[0]["dps"][-1], [visit.now * 1000, visit.temperature(0, 0)])
    browser.click("#request-texts button")
    browser.wait("/Copied|Marked/.test(document.querySelector('#request-texts button').textContent)")


@case
def the_server_is_shown_and_its_queries_ended(visit):
    browser = visit.browser
    visit.open()
    browser.key("s")
    browser.wait("document.querySelector('[data-name=\"storage.series\"]')?.textContent === '509'")
    browser.wait("document.querySelector('#regions tbody tr') !== null")
    equal(visit.hash(), "#view=server&start=1h-ago")
    # A client that reads nothing keeps its query at work: its answer does not fit the buffers between them.
    with visit.daemon.raw() as slow:
        slow.sendall(b"GET /api/query?start=1000000000&end=1000600000&ms&m=none:1s-avg-zero:wide{host=*} HTTP/1.1\r\nHost: x\r\n\r\n")
        browser.wait("document.querySelector('#running .kill') !== null")
        check("wide" in browser.run("document.querySelector('#running tbody td').textContent"), "the query is named")
        browser.click("#running .kill")
        browser.wait("document.querySelector('#running .kill') === null")
        equal(visit.daemon.get("/api/stats/query")["running"], [])
    browser.key("g")
    browser.wait("document.querySelector('#view-server').hidden")


@case
def dark_and_light(visit):
    browser = visit.browser
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.prefer("dark")
    visit.open("#m=sum:room.temp")
    equal(browser.run("document.documentElement.dataset.theme"), "dark")
    dark = browser.run(ground)
    browser.click("#theme")
    equal(browser.run("document.documentElement.dataset.theme"), "light")
    check(browser.run(ground) != dark, "the ground has another colour")
    visit.open("#m=sum:room.temp")
    equal(browser.run("document.documentElement.dataset.theme"), "light")
    browser.run("localStorage.clear()")
    browser.prefer("light")


@case
def the_keyboard_is_enough(visit):
    browser = visit.browser
    visit.open()
    browser.key("/")
    equal(browser.run("document.activeElement.id"), "search")
    browser.type("room")
    browser.wait("document.querySelectorAll('.names .name').length === 1")
    browser.key("ArrowDown")
    browser.key("Enter")
    visit.series(1)
    # What is changed is shown anew; whoever types stays where he was, or where Tab takes him.
    at = "document.activeElement.className"
    browser.run("document.querySelector('.aggregator').focus()")
    browser.choose(".aggregator", "max")
    browser.wait("location.hash.includes('max:')")
    visit.series(1)
    equal(browser.run(at), "aggregator")
    browser.run("document.querySelector('.metric').focus(), document.querySelector('.metric').select()")
    browser.type("net.bytes")
    browser.key("Tab")
    browser.wait("location.hash.includes('net.bytes')")
    visit.series(1)
    equal(browser.run(at), "aggregator")
    browser.run("document.activeElement.blur()")
    browser.key("-")
    browser.wait("location.hash.includes('end=')")
    browser.key("?")
    browser.wait("document.querySelector('#keys').open")
    browser.key("Escape")
    browser.wait("!document.querySelector('#keys').open")
    theme = browser.run("document.documentElement.dataset.theme")
    browser.key("t")
    check(browser.run("document.documentElement.dataset.theme") != theme, "t changes the theme")
    browser.key("t")


@case
def what_the_server_refuses_is_said(visit):
    browser = visit.browser
    visit.open("#m=sum:no.such.metric")
    said = browser.wait("!document.querySelector('#message').hidden && document.querySelector('#message').textContent")
    check("no.such.metric" in said, said)
    said = browser.wait("document.querySelector('.tags [role=status]')?.textContent")
    check("no.such.metric" in said, f"why there are no tags: {said}")
    # The browser notes each refused request, the graph's and that for tags: here they are meant.
    browser.hear(2)
    check(all("the server responded with a status of 40" in text for text in browser.complaints), browser.complaints)
    browser.complaints.clear()
    browser.click("[data-metric='room.temp'] .name")
    visit.series(1)
    browser.wait("document.querySelector('#message').hidden")


@case
def annotations_are_text(visit):
    visit.open("#m=sum:room.temp")
    visit.series(1)
    equal(visit.browser.run("document.querySelector('#notes li').textContent.includes('deploy <b>9</b>')"), True)
    equal(visit.browser.run("document.querySelector('#notes li b')"), None)


@case
def series_are_hidden_and_left_alone(visit):
    browser = visit.browser
    visit.open("#m=none:room.temp")
    visit.series(HOSTS)
    shown = "document.querySelector('#chart').chart.plot.series.slice(1).map((s) => s.show)"
    browser.click("#legend tbody tr:nth-child(2) button")
    equal(browser.run(shown), [True, False, True, True])
    browser.run("document.querySelector('#legend tbody tr:nth-child(1) button').dispatchEvent(new MouseEvent('click', {shiftKey: true}))")
    equal(browser.run(shown), [True, False, False, False])


@case
def a_double_click_leaves_one_and_the_next_gives_all_back(visit):
    browser = visit.browser
    visit.open("#m=none:room.temp")
    visit.series(HOSTS)
    shown = "document.querySelector('#chart').chart.plot.series.slice(1).map((s) => s.show)"
    browser.double_click("#legend tbody tr:nth-child(2) button")
    equal(browser.run(shown), [False, True, False, False])
    browser.double_click("#legend tbody tr:nth-child(2) button")
    equal(browser.run(shown), [True] * HOSTS)


@case
def what_was_hidden_stays_hidden_in_the_next_answer(visit):
    browser = visit.browser
    visit.open("#m=none:room.temp")
    visit.series(HOSTS)
    browser.click("#legend tbody tr:nth-child(3) button")
    browser.run("window.before = document.querySelector('#chart').chart.columns, true")
    browser.key("r")
    browser.wait("document.querySelector('#chart').chart.columns !== window.before")
    visit.series(HOSTS)
    shown = "document.querySelector('#chart').chart.plot.series.slice(1).map((s) => s.show)"
    equal(browser.run(shown), [True, True, False, True])
    pressed = "[...document.querySelectorAll('button.series')].map((e) => e.getAttribute('aria-pressed') === 'true')"
    equal(browser.run(pressed), [True, True, False, True])


@case
def a_date_is_of_the_browsers_zone_wherever_the_server_is(visit):
    browser = visit.browser
    browser.at_zone("Asia/Kolkata")
    try:
        begin = visit.now - 1800
        date = time.strftime("%Y/%m/%d-%H:%M:%S", time.gmtime(begin + 19800))
        visit.open(f"#start={date}&m=none:room.temp")
        visit.series(HOSTS)
        equal(browser.run(f"{DATA}[0][0]"), begin)
        equal(browser.run("document.querySelector('#chart').chart.plot.scales.x.min"), begin)
        visit.open(f"#start={begin}.000&m=none:room.temp")
        visit.series(HOSTS)
        equal(browser.run("document.querySelector('#chart').chart.plot.scales.x.min"), begin)
    finally:
        browser.at_zone("")


@case
def a_click_right_after_typing_counts(visit):
    browser = visit.browser
    visit.open("#start=1h-ago&m=sum:1m-avg:room.temp")
    visit.series(1)
    for selector, done in [(".sub .rate", "location.hash.includes('rate')"), ("#times .earlier", "location.hash.includes('end=')"),
                           ("#request-texts button", "/Copied|Marked/.test(document.querySelector('#request-texts button').textContent)")]:
        if "request" in selector:
            browser.click("#request summary")
        browser.run("document.querySelector('.value-filter').focus(), document.querySelector('.value-filter').select()")
        browser.type("<9" + str(len(selector)))
        browser.click(selector, held_s=0.3)
        browser.wait(done)
        browser.wait(f"decodeURIComponent(location.hash).includes('value<9{len(selector)}')")
    visit.series(1)


@case
def tags_go_to_the_sub_query_they_are_shown_for(visit):
    browser = visit.browser
    visit.open("#start=1h-ago&m=sum:1m-avg:room.temp&m=sum:1m-avg:net.bytes")
    visit.series(2)
    browser.wait("document.querySelectorAll('.tags details').length === 2")
    browser.click(".sub:nth-child(2) .value-filter")
    browser.wait("document.querySelector('.tags p')?.textContent === '1 series'")
    browser.click(".sub:nth-child(1) .value-filter")
    browser.wait("document.querySelectorAll('.tags details').length === 2")
    browser.click("[data-key=site] .key")
    visit.series(3)
    equal(visit.hash(), "#start=1h-ago&m=sum:1m-avg:room.temp{site=*}&m=sum:1m-avg:net.bytes")


@case
def what_can_be_read_of_an_address_is_shown(visit):
    browser = visit.browser
    visit.open("#start=1h-ago&m=nonsense&m=none:room.temp")
    visit.series(HOSTS)
    check("nonsense" in browser.run("document.querySelector('#message').textContent"), "what could not be read is said")
    equal(browser.run("document.querySelector('#message').hidden"), False)


@case
def a_double_click_on_the_graph_does_not_leave_the_page(visit):
    browser = visit.browser
    visit.open("#start=1h-ago&m=sum:1m-avg:room.temp")
    visit.series(1)
    browser.double_click("#chart .u-over")
    browser.settle()
    browser.drag("#chart .u-over", 0.25, 0.5)
    browser.wait("location.hash.includes('end=')")
    visit.series(1)
    browser.double_click("#chart .u-over")
    browser.wait("location.hash === '#start=1h-ago&m=sum:1m-avg:room.temp'")
    visit.series(1)


@case
def without_storage_in_the_browser_the_page_works(visit):
    browser = visit.browser
    script = browser.call("Page.addScriptToEvaluateOnNewDocument",
                          source="Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });")
    try:
        visit.open("#m=none:room.temp")
        visit.series(HOSTS)
        theme = browser.run("document.documentElement.dataset.theme")
        browser.click("#theme")
        check(browser.run("document.documentElement.dataset.theme") != theme, "another theme is shown")
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


@case
def why_a_query_could_not_be_ended_stays_to_be_read(visit):
    browser = visit.browser
    visit.open("#view=server")
    browser.wait("document.querySelector('#running details') !== null")
    with visit.daemon.raw() as slow:
        slow.sendall(b"GET /api/query?start=1000000000&end=1000600000&ms&m=none:1s-avg-zero:wide{host=*} HTTP/1.1\r\nHost: x\r\n\r\n")
        browser.wait("document.querySelector('#running .kill') !== null")
        # The page asks, a proxy in between refuses.
        browser.run("""window.asked = 0; const real = fetch; window.fetch = (path, options) => options?.method === 'DELETE'
            ? Promise.resolve(new Response('not here', { status: 403 })) : (++window.asked, real(path, options)); true""")
        browser.click("#running .kill")
        said = "document.querySelector('#view-server .message').textContent"
        browser.wait(f"{said}.includes('not here')")
        browser.wait("window.asked > 6")
        check("not here" in browser.run(said), "two rounds later it is still there")


@case
def an_unseen_page_asks_for_nothing_anew(visit):
    browser = visit.browser
    # The clock of the page has struck once it waits to be seen.
    visit.open("#start=1h-ago&m=sum:1m-avg:room.temp")
    visit.series(1)
    asked = lambda: sum("/api/query?" in url for url in browser.requests)  # noqa: E731
    browser.run("""Object.defineProperty(document, 'hidden', { value: true, configurable: true });
        const listen = document.addEventListener; document.addEventListener = function (name, ...rest) {
            window.waits = window.waits || name === 'visibilitychange'; return listen.call(this, name, ...rest); }; true""")
    browser.run("location.hash = '#start=1h-ago&refresh=1&m=sum:1m-avg:room.temp'")
    browser.wait("window.waits")
    before = asked()
    browser.run("delete document.hidden, document.dispatchEvent(new Event('visibilitychange'))")
    while asked() == before:
        check(browser.receive(30) is not None, "seen again, it asks")


@case
def the_same_query_is_not_sent_while_it_is_on_its_way(visit):
    browser = visit.browser
    visit.open("#start=1h-ago&m=sum:1m-avg:room.temp")
    visit.series(1)
    browser.run("""window.sent = []; const real = fetch; const held = new Promise((go) => { window.letGo = go; });
        window.fetch = async (path, options) => { if (!path.startsWith('api/query')) return real(path, options);
            window.sent.push(options.signal); await held; return real(path, options); }; true""")
    browser.key("r")
    browser.wait("window.sent.length === 1")
    # It is asked for once more, which is seen by what is shown of the request before.
    browser.run("document.querySelector('#json').textContent = ''")
    browser.key("r")
    browser.wait("document.querySelector('#json').textContent !== ''")
    equal(browser.run("[window.sent.length, window.sent[0].aborted]"), [1, False])
    browser.choose(".aggregator", "max")
    browser.wait("window.sent.length === 2")
    equal(browser.run("window.sent.map((signal) => signal.aborted)"), [True, False])
    browser.run("window.letGo()")
    visit.series(1)


@case
def a_tag_whose_name_was_deleted_is_shown_and_not_clicked(visit):
    browser = visit.browser
    visit.open()
    browser.run("""(() => { const real = fetch; const gone = { deleted: true, series: 1 };
        window.fetch = (path, options) => !path.startsWith('api/search/tags') ? real(path, options) : Promise.resolve(new Response(JSON.stringify(
            { metric: 'room.temp', series: 2, tags: [{ key: 'host', series: 2, values: 2, largest: [{ value: 'a', series: 1 }, { value: '000007', ...gone }] },
                { key: '000009', values: 1, largest: [{ value: 'b', series: 1 }], ...gone }] }))); })()""")
    browser.click("[data-metric='room.temp'] .name")
    browser.wait("document.querySelectorAll('.tags details').length === 2")
    equal(browser.run("[...document.querySelectorAll('.tags .key, .tags .value')].map((e) => [e.textContent, e.disabled])"),
          [["host", False], ["a", False], ["000007", True], ["000009", True], ["b", True]])


@case
def an_older_answer_does_not_replace_a_newer_one(visit):
    browser = visit.browser
    visit.open()
    # As many metrics as make the page ask for beginnings; the first answer comes last.
    browser.run("""(() => { const real = fetch; window.slow = [];
        window.fetch = (path, options) => { const q = /suggest.*[?&]q=([^&]*)/.exec(path)?.[1];
            if (q === undefined) return real(path, options);
            const names = Array.from({ length: 5000 }, (_, i) => `${q}metric${i}`);
            const answer = () => new Response(JSON.stringify(names));
            if (q !== 'a') return Promise.resolve(answer());
            return new Promise((go) => window.slow.push(() => go(answer()))); }; })()""")
    browser.run("import(document.querySelector('script[type=module]').src.replace('main.js', 'explore.js')).then(({ Explore }) => {"
                " const place = document.createElement('div'); place.id = 'other'; document.body.append(place);"
                " window.other = new Explore(place, {}); return window.other.look(); })")
    typed = "window.other.search"
    browser.run(f"{typed}.value = 'a', {typed}.dispatchEvent(new Event('input'))")
    browser.wait("window.slow.length === 1")
    browser.run(f"{typed}.value = 'ab', {typed}.dispatchEvent(new Event('input'))")
    browser.wait("document.querySelector('#other .name')?.textContent === 'abmetric0'")
    browser.run("window.slow[0](), new Promise((done) => setTimeout(done, 0))")
    browser.settle()
    equal(browser.run("window.other.names[0]"), "abmetric0")


@case
def a_budget_without_a_limit_is_said_to_have_none(visit):
    browser = visit.browser
    visit.open()
    browser.run("""(() => { const real = fetch; window.fetch = async (path, options) => { const answer = await real(path, options);
        if (path !== 'api/stats') return answer;
        const points = (await answer.json()).map((one) => one.metric === 'tsd.query.memory' && one.tags.type === 'limit' ? { ...one, value: '0' } : one);
        return new Response(JSON.stringify(points)); }; })()""")
    browser.key("s")
    said = browser.wait("[...document.querySelectorAll('.meter')].map((e) => e.textContent).find((text) => text.startsWith('memory of queries'))")
    check(said.endswith(", no limit"), said)
    browser.key("g")


def run(visit, only):
    passed, failed = 0, []
    for test in CASES:
        if only and only not in test.__name__:
            continue
        visit.browser.requests.clear()
        visit.browser.complaints.clear()
        try:
            test(visit)
            equal(visit.browser.complaints, [])
            equal([url for url in visit.browser.requests if not url.startswith((visit.base, "about:", "data:"))], [])
            passed += 1
            print(f"ok   {test.__name__}")
        except (AssertionError, RuntimeError, OSError, http.client.HTTPException, KeyError) as error:
            failed.append(test.__name__)
            print(f"FAIL {test.__name__}: {error}; complaints: {visit.browser.complaints}")
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tsdb", default="build/release/tsdb")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hourglass-page-") as folder:
        daemon = Daemon(arguments.tsdb, folder)
        daemon.start()
        try:
            browser = Chromium()
            try:
                visit = Visit(daemon, browser)
                visit.fill()
                passed, failed = run(visit, arguments.only)
            finally:
                browser.close()
        finally:
            daemon.stop()
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
