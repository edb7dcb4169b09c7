"""Difficult situations: clicks while something is in progress, answers that come late or never, other time zones, and addresses that
are only partly valid."""
import time

from visit import DATA, HOSTS, case, check, equal


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
        slow.sendall(b"GET /api/query?start=1000000000&end=1000600000&ms&m=none:1s-avg-zero:wide{host=*} HTTP/1.1\r\nHost: localhost\r\n\r\n")
        browser.wait("document.querySelector('#running .kill') !== null")
        # The page asks, and a proxy between it and the daemon refuses.
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
    # The page asks again, which can be seen from what it shows of the earlier request.
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
    # So many metrics that the page asks for beginnings of names; the first answer arrives last.
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
