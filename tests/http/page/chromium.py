"""Chromium without a window, driven over its DevTools protocol through a pair of pipes: nothing but Python is needed."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAM = "chromium-headless-shell"
PATIENCE_S = 120


class Chromium:
    """One page. It records every request (`requests`) and every complaint of the browser (`complaints`)."""

    def __init__(self, width=1280, height=900):
        program = shutil.which(PROGRAM)
        if program is None:
            raise SystemExit(f"{PROGRAM} is missing; setup/install browser brings it")
        self.folder = tempfile.TemporaryDirectory(prefix="hourglass-chromium-", ignore_cleanup_errors=True)
        to_child, self.write_end = os.pipe()
        self.read_end, from_child = os.pipe()

        def pipes_in_place():
            # Chromium reads from descriptor 3 and writes to 4; neither may be overwritten while they are moved.
            first, second = os.dup(to_child), os.dup(from_child)
            os.dup2(first, 3)
            os.dup2(second, 4)

        # Without a sandbox, which root may not use; Chromium only sees our own pages. /dev/shm is tiny in containers.
        # Proxies are switched off, and so is everything that would contact servers on the Internet.
        self.process = subprocess.Popen(
            [program, "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-proxy-server",
             "--disable-background-networking", "--no-first-run", f"--user-data-dir={self.folder.name}",
             f"--window-size={width},{height}", "--force-device-scale-factor=1", "--lang=en-US"],
            preexec_fn=pipes_in_place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "TZ": "UTC"})
        os.close(to_child)
        os.close(from_child)
        self.buffer = b""
        self.asked = 0
        self.requests, self.complaints = [], []
        target = self.call("Target.createTarget", url="about:blank", width=width, height=height)["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        """Closes Chromium with its helper processes, so that they no longer use the folder."""
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(PATIENCE_S)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        self.folder.cleanup()

    # ---- The protocol ----

    def call(self, method, **parameters):
        self.asked += 1
        message = {"id": self.asked, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self.receive(deadline - time.monotonic())
            if answer is None:
                raise RuntimeError(f"Chromium did not answer {method}")
            if answer.get("id") == self.asked:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self, timeout_s):
        """The next message, recorded if it is an event; None if there was none in that time."""
        deadline = time.monotonic() + timeout_s
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                return None
            piece = os.read(self.read_end, 1 << 20)
            if not piece:
                raise RuntimeError("Chromium has ended")
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(line)
        self.note(message.get("method"), message.get("params", {}))
        return message

    def note(self, method, event):
        if method == "Network.requestWillBeSent":
            self.requests.append(event["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and event["entry"]["level"] in ("error", "warning"):
            self.complaints.append(f"{event['entry']['text']} {event['entry'].get('url', '')}")
        elif method == "Runtime.consoleAPICalled" and event["type"] in ("error", "warning", "assert"):
            self.complaints.append(" ".join(str(value.get("value", value.get("description"))) for value in event["args"]))

    # ---- What a user does ----

    def open(self, url):
        """Opens the address as if it was typed: a new page is loaded, even if only the part after # differs."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)

    def run(self, expression):
        """The value of a JavaScript expression in the page; a promise is awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def wait(self, expression, patience_s=PATIENCE_S):
        """Waits until the expression is true and returns its value. Exceptions count as not yet true."""
        deadline = time.monotonic() + patience_s
        last = None
        while time.monotonic() < deadline:
            try:
                last = self.run(expression)
                if last:
                    return last
            except RuntimeError as error:
                last = error
            time.sleep(0.02)
        raise AssertionError(f"did not come true: {expression}; at last {last}")

    def hear(self, count):
        """Waits until there are that many complaints."""
        deadline = time.monotonic() + PATIENCE_S
        while len(self.complaints) < count:
            if self.receive(deadline - time.monotonic()) is None:
                raise AssertionError(f"{count} complaints were expected: {self.complaints}")

    def box(self, selector):
        """(left, top, width, height) of an element in the window, scrolled into view. Waits up to 0.2 s until it stops moving."""
        return self.run(f"""(async () => {{ const find = () => document.querySelector({json.dumps(selector)});
            const place = () => {{ const r = find().getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; }};
            find().scrollIntoView({{block: 'nearest'}});
            for (let i = 0, before = ''; i < 20 && before !== String(place()); ++i) {{
              before = String(place()); await new Promise((done) => setTimeout(done, 10)); }}
            return place(); }})()""")

    def settle(self):
        """Waits until the page has done the work that it postponed after the last event, because no user clicks that fast."""
        self.run("new Promise((done) => setTimeout(done))")

    def say_always(self, fields):
        """Adds these header fields to every request from now on; {}: none."""
        self.call("Network.setExtraHTTPHeaders", headers=fields)

    def mouse(self, kind, x, y, clicks=1, modifiers=0):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left",
                  clickCount=clicks, modifiers=modifiers)

    def click(self, selector, held_s=0, clicks=1):
        """held_s: how long the button stays down. clicks: 1 for a single click, 2 for the second click of a double click."""
        self.settle()
        self.wait(f"document.querySelector({json.dumps(selector)})?.getClientRects().length > 0")
        left, top, width, height = self.box(selector)
        x, y = left + width / 2, top + height / 2
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, clicks)
        time.sleep(held_s)
        self.mouse("mouseReleased", x, y, clicks)

    def double_click(self, selector):
        self.click(selector)
        self.click(selector, clicks=2)

    def drag(self, selector, from_part, to_part):
        """Drags along the middle of an element; from and to are fractions of its width."""
        self.settle()
        left, top, width, height = self.box(selector)
        y = top + height / 2
        self.mouse("mouseMoved", left + width * from_part, y)
        self.mouse("mousePressed", left + width * from_part, y)
        for step in range(1, 6):
            self.mouse("mouseMoved", left + width * (from_part + (to_part - from_part) * step / 5), y)
        self.mouse("mouseReleased", left + width * to_part, y)

    def choose(self, selector, value):
        """Chooses an option of a <select>, with the same events as a user's choice from the list."""
        self.settle()
        self.run(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(value)};
            if (e.value !== {json.dumps(value)}) throw new Error('no option ' + {json.dumps(value)});
            e.dispatchEvent(new Event('change', {{bubbles: true}})); }})()""")

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, key):
        """Presses a key: a printable one or "Enter", "Tab", "Escape", "ArrowDown", "ArrowUp"."""
        self.settle()
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38}
        text = "\r" if key == "Enter" else "" if key in codes else key
        code = codes.get(key, ord(key.upper()[0]))
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def at_zone(self, zone):
        """Sets the browser's time zone, such as "Asia/Kolkata"; "" sets the zone in which it was started."""
        self.call("Emulation.setTimezoneOverride", timezoneId=zone)

    def prefer(self, scheme):
        """Sets the system's preference for dark or light colors."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
