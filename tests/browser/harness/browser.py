# SPDX-License-Identifier: Apache-2.0
"""A page as somebody sees it: Debian's chromium without a window and without a network, driven over two pipes by the
DevTools protocol. Python's standard library is all it takes."""
import base64
import fcntl
import itertools
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 60  # seconds for an answer: more than a busy machine needs
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "Space": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38,
        "ArrowRight": 39, "ArrowDown": 40}


def found():
    """The browser's path, or None."""
    return shutil.which("chromium")


def pipe_above(number):
    """A pipe whose ends are descriptors of at least this number."""
    ends = os.pipe()
    above = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, number) for end in ends]
    for end in ends:
        os.close(end)
    return above


class Lost(Exception):
    """The browser has gone, or has not answered in time."""


class Browser:
    """One process for all pages: `with Browser() as browser:`."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # The browser reads descriptor 3 and writes 4; ours are above, so that neither takes the other's place.
        to_read, to_write = pipe_above(10), pipe_above(10)

        def place():
            os.dup2(to_read[0], 3)
            os.dup2(to_write[1], 4)

        self.process = subprocess.Popen(
            [found() or "chromium", "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
             "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--no-default-browser-check", "--hide-scrollbars", "--font-render-hinting=none",
             "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={self.folder.name}",
             *(["--no-sandbox"] if os.geteuid() == 0 else []), "about:blank"],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.folder.name})
        os.close(to_read[0])
        os.close(to_write[1])
        self.to, self.come_from = to_read[1], to_write[0]
        self.numbers, self.rest, self.pages = itertools.count(1), b"", {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        os.close(self.come_from)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()

    def ask(self, method, session=None, **parameters):
        """Sends a command and returns the answer to it; events that come meanwhile go to their pages."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until = time.monotonic() + PATIENCE
        while True:
            message = self.next_message(until)
            if message.get("id") == number:
                if "error" in message:
                    raise Lost(f"{method}: {message['error']['message']}")
                return message["result"]
            self.deliver(message)

    def deliver(self, message):
        page = self.pages.get(message.get("sessionId"))
        if page is not None:
            page.happened(message["method"], message["params"])

    def next_message(self, until):
        while b"\0" not in self.rest:
            if not select.select([self.come_from], [], [], max(until - time.monotonic(), 0))[0]:
                raise Lost("the browser does not answer")
            more = os.read(self.come_from, 1 << 20)
            if not more:
                raise Lost("the browser has gone")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def open(self, file, width=1280, height=900, dark=False, phone=False):
        """A page of a file on this disk, loaded: see Page. `phone` is a touch screen of two pixels to the point."""
        return Page(self, pathlib.Path(file).resolve().as_uri(), width, height, dark, phone)


class Page:
    """`console`: what the page has complained of or printed. `requests`: what it has asked for besides itself."""

    def __init__(self, browser, address, width, height, dark, phone):
        self.browser, self.console, self.requests, self.loaded = browser, [], [], False
        self.address, self.height = address, height
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1,
                 mobile=phone)
        self.ask("Emulation.setTouchEmulationEnabled", enabled=phone)
        self.ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.ask("Page.navigate", url=address)
        self.wait_for(lambda: self.loaded)
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def ask(self, method, **parameters):
        return self.browser.ask(method, self.session, **parameters)

    def happened(self, method, event):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(a.get("value", a.get("description"))) for a in event["args"]))
        elif method == "Runtime.exceptionThrown":
            details = event["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.console.append(event["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = event["request"]["url"]
            if url != self.address and not url.startswith(("data:", "blob:", "about:")):
                self.requests.append(url)

    def wait_for(self, condition):
        until = time.monotonic() + PATIENCE
        while not condition():
            self.browser.deliver(self.browser.next_message(until))

    def evaluate(self, expression):
        """The value of a JavaScript expression, or of the promise that it is."""
        answer = self.ask("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def count(self, selector):
        return self.evaluate(f"document.querySelectorAll({json.dumps(selector)}).length")

    def text(self, selector="body"):
        """What is shown there."""
        return self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText")

    def focus(self, selector):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")

    def press(self, *keys):
        """Keys of the keyboard, one after the other, to where the focus is."""
        for key in keys:
            name = " " if key == "Space" else key
            code = {"key": name, "code": key, "windowsVirtualKeyCode": KEYS[key]}
            text = {"Enter": "\r", "Space": " "}.get(key)
            self.ask("Input.dispatchKeyEvent", type="keyDown", **code, **({"text": text} if text else {}))
            self.ask("Input.dispatchKeyEvent", type="keyUp", **code)

    def place_of(self, selector, across=0.5, down=0.5):
        """A point of an element, which is scrolled to."""
        left, top, width, height = self.evaluate(f"""(() => {{
            const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: "center", behavior: "instant"}});
            const r = e.getBoundingClientRect();
            return [r.left, r.top, r.width, r.height];
        }})()""")
        return {"x": left + across * width, "y": top + down * height}

    def hover(self, selector, across=0.5, down=0.5):
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", **self.place_of(selector, across, down))

    def click(self, selector):
        at = self.place_of(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **at)

    def names(self, role):
        """What a screen reader calls the elements of this role: button, link, table, image, …"""
        nodes = self.ask("Accessibility.getFullAXTree")["nodes"]
        return [node.get("name", {}).get("value", "") for node in nodes
                if not node.get("ignored") and node.get("role", {}).get("value") == role]

    def overflow(self):
        """Pixels by which the page is wider than its window."""
        return self.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")

    def faint_texts(self):
        """Texts whose contrast is below WCAG's 4.5 to 1 (3 to 1 where they are large): (contrast, text)."""
        return self.evaluate(CONTRAST)

    def screenshot(self, file, whole=False, of=None):
        """The window, the whole page, or one element, as a PNG file."""
        size = {}
        if of is not None:
            left, top, width, height = self.evaluate(f"""(() => {{
                const r = document.querySelector({json.dumps(of)}).getBoundingClientRect();
                return [r.left + scrollX, r.top + scrollY, r.width, r.height];
            }})()""")
            size = {"captureBeyondViewport": True, "clip": {"x": left, "y": top, "width": width, "height": height, "scale": 1}}
        if whole:
            content = self.ask("Page.getLayoutMetrics")["cssContentSize"]
            size = {"captureBeyondViewport": True,
                    "clip": {"x": 0, "y": 0, "width": content["width"], "height": content["height"], "scale": 1}}
        data = self.ask("Page.captureScreenshot", format="png", **size)["data"]
        pathlib.Path(file).write_bytes(base64.b64decode(data))


# Of each text: its colour on the first opaque background behind it. Texts on gradients and pictures are not judged.
CONTRAST = """(() => {
  const parts = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.backgroundImage !== "none") return null;
      const c = parts(style.backgroundColor);
      if (c.length && (c.length < 4 || c[3] === 1)) return c;
    }
    return [255, 255, 255];
  };
  const faint = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walk.nextNode());) {
    const element = node.parentElement, style = getComputedStyle(element);
    if (!node.data.trim() || !element.getClientRects().length || style.visibility === "hidden") continue;
    const back = behind(element);
    if (!back) continue;
    const front = parts(element instanceof SVGElement ? style.fill : style.color);
    if (front.length < 3) continue;
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x), contrast = (a + 0.05) / (b + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (contrast < (large ? 3 : 4.5)) faint.push([contrast.toFixed(2), node.data.trim().slice(0, 60)]);
  }
  return faint;
})()"""
