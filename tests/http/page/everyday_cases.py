"""Ordinary use of the page: users look, click, drag, type and share."""
import gzip
import json
import time
import urllib.parse

from visit import DATA, HOSTS, MANY, MANY_SECONDS, case, check, equal

PACKED_MAX = 80 << 10


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
def five_hundred_series_of_a_thousand_stored_points(visit):
    browser = visit.browser
    visit.open("#start=1000000000&end=1000000999&m=none:many{host=*}")
    series = visit.series(MANY)
    equal(browser.run(f"[{DATA}[0].length, {DATA}[0][0], {DATA}[0].at(-1)]"), [MANY_SECONDS, 1000000000, 1000000999])
    names = browser.run("[...document.querySelectorAll('button.series')].map((e) => e.textContent)")
    equal(sorted(names), [f"host=h{host:03}" for host in range(MANY)])
    for name, values in zip(names, series):
        equal(values, [visit.one_of_many(int(name[-3:]), at) for at in range(MANY_SECONDS)])
    equal(browser.run("document.querySelector('#facts').firstChild.textContent").split(" ms")[0].rsplit(",", 1)[0],
          f"{MANY} series, {MANY * MANY_SECONDS} points")
    browser.drag("#chart .u-over", 0.4, 0.6)
    browser.wait(f"{DATA}[0].length < 300")
    visit.series(MANY)


@case
def the_pointer_tells_the_nearest_point(visit):
    browser = visit.browser
    visit.open("#start=1h-ago&m=none:room.temp")
    visit.series(HOSTS)
    # The position at which the third series' point is drawn that is 30 points before the newest.
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
    # The server would normally refuse this earlier; here the browser has to cope with it.
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
    # All rows of the table of names, so all bytes and all writes, are before the key at which it is split.
    visit.daemon.post("/api/admin/split?table=tsdb-uid&at=%5CxFF", {})
    browser.wait("document.querySelector('#regions').textContent.includes('100 %: this region has most bytes')")
    columns = browser.run("[...document.querySelectorAll('#regions th')].map((e) => e.textContent)")
    rows = [dict(zip(columns, row, strict=True)) for row in browser.run(
        "[...document.querySelectorAll('#regions tbody tr')].map((e) => [...e.cells].map((cell) => cell.textContent))")]
    loads = [(row["share"], row["writes since the start"].partition(" ")[2]) for row in rows if row["table"] == "tsdb-uid"]
    equal(loads, [("100 %: this region has most bytes and most writes of the table", "(100 %)"), ("0 %", "(0 %)")])
    # A client that reads nothing keeps its query running, because the answer does not fit into the buffers.
    with visit.daemon.raw() as slow:
        slow.sendall(b"GET /api/query?start=1000000000&end=1000600000&ms&m=none:1s-avg-zero:wide{host=*} HTTP/1.1\r\nHost: localhost\r\n\r\n")
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
    # A change is displayed at once; the keyboard focus stays in its field, or where Tab moves it.
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
def the_range_is_moved_and_a_sub_query_added_by_keys(visit):
    browser = visit.browser
    # "Later" stops at the present: the range is half an hour in the past, so that there is room on both sides.
    start, end = (visit.now - 3000) * 1000, (visit.now - 1200) * 1000
    visit.open(f"#start={start}&end={end}&m=sum:1m-avg:room.temp")
    visit.series(1)
    half = (end - start) // 2
    for key, range_ in (("[", (start - half, end - half)), ("]", (start, end)), ("]", (start + half, end + half)), ("[", (start, end)),
                        ("+", (start + half // 2, end - half // 2)), ("-", (start, end))):
        browser.key(key)
        browser.wait(f"location.hash.startsWith('#start={range_[0]}&end={range_[1]}&')")
    browser.wait(f"{DATA}[0].length === 31")  # else the graph may still be that of the first "+"
    browser.key("+")
    browser.wait(f"{DATA}[0].length < 31")
    equal(browser.run(f"[{DATA}[0][0], {DATA}[0].at(-1)]"), [visit.now - 2520, visit.now - 1680])
    equal(browser.run("document.querySelectorAll('.sub').length"), 1)
    browser.key("a")
    browser.wait("document.querySelectorAll('.sub').length === 2")
    equal(browser.run("document.activeElement.closest('.sub') === document.querySelector('.sub:nth-child(2)')"), True)
    # In a text field, keys enter text.
    browser.run("document.querySelector('#search').focus()")
    for key in "[]+a":
        browser.key(key)
    equal(browser.run("document.querySelector('#search').value"), "[]+a")
    equal(browser.run("document.querySelectorAll('.sub').length"), 2)


@case
def the_files_of_the_page_are_few_and_small(visit):
    """The size is that of the compressed files, as a proxy sends them; the page must also open over a slow connection."""
    visit.open()
    paths = {urllib.parse.urlsplit(url).path for url in visit.browser.requests}
    files = {path for path in paths if not path.startswith("/api/")} - {"blank"}
    check({path.rpartition("/")[2] for path in files} >= {"", "main.js", "server_view.js", "page.css", "uPlot.iife.min.js"}, files)
    packed = {path: len(gzip.compress(visit.daemon.ask("GET", path, None, 60))) for path in files}
    check(sum(packed.values()) <= PACKED_MAX, f"the page has {sum(packed.values())} bytes: {packed}")


@case
def what_the_server_refuses_is_said(visit):
    browser = visit.browser
    visit.open("#m=sum:no.such.metric")
    said = browser.wait("!document.querySelector('#message').hidden && document.querySelector('#message').textContent")
    check("no.such.metric" in said, said)
    said = browser.wait("document.querySelector('.tags [role=status]')?.textContent")
    check("no.such.metric" in said, f"why there are no tags: {said}")
    # The browser complains about each refused request, the graph's and the one for tags; here both are expected.
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
