"""A Chromium that a test drives as a person would, over the DevTools protocol: it finds elements by role and name."""

import base64
import contextlib
import itertools
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import requests
from browser import end, program
from websockets.sync.client import connect

# A busy machine may take its time.
PATIENCE = 60
MESSAGE_LIMIT = 1 << 30
# How long to wait for a change in a page, and how long from one look to the next.
WAIT = 30
PAUSE = 0.05

# A page that draws a list again meanwhile has the element's twin at its place.
MARK = """function() {
    window.hitHere = false;
    document.addEventListener('click', ({target}) => {
        window.hitHere = this.contains(target) || target.closest(this.tagName)?.outerHTML === this.outerHTML;
    }, {capture: true, once: true});
}"""
# The center of an element's visible part, scrolled into view; null if it has none or another element covers it.
PLACE = """function() {
    this.scrollIntoView({block: 'center', inline: 'nearest'});
    const box = this.getClientRects()[0];
    if (!box || this.disabled) return null;
    let {left, top, right, bottom} = box;
    for (let around = this.parentElement; around; around = around.parentElement) {
        if (getComputedStyle(around).overflow === 'visible') continue;
        const edge = around.getBoundingClientRect();
        [left, top, right, bottom] = [Math.max(left, edge.left), Math.max(top, edge.top), Math.min(right, edge.right), Math.min(bottom, edge.bottom)];
    }
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const there = document.elementFromPoint(x, y);
    return there && (this.contains(there) || there.contains(this)) ? [x, y] : null;
}"""


class Stale(Exception):
    """The element found, or its page, no longer exists."""


class Browser:
    """One headless browser for many pages; further options go to its command."""

    def __init__(self, *options: str):
        self.folder = tempfile.TemporaryDirectory(prefix="understudy-devtools-")
        home = {name: self.folder.name for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        self.log = (Path(self.folder.name) / "log").open("w")
        self.process = subprocess.Popen(
            [program(), "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
             "--disable-ipc-flooding-protection", "--no-sandbox", f"--user-data-dir={self.folder.name}/profile", "--remote-debugging-port=0", *options, "about:blank"],
            stdout=self.log, stderr=self.log, start_new_session=True, env={**os.environ, **home})
        self.port = self.await_port()

    def await_port(self) -> int:
        file, last = Path(self.folder.name) / "profile" / "DevToolsActivePort", time.monotonic() + PATIENCE
        while time.monotonic() < last:
            if file.exists() and len(lines := file.read_text().split("\n")) > 1:
                return int(lines[0])
            assert self.process.poll() is None, (Path(self.folder.name) / "log").read_text()
            time.sleep(0.1)
        raise AssertionError("the browser did not start")

    def open(self, url: str, width: int = 1280, height: int = 800, scheme: str = "light") -> "Tab":
        target = requests.put(f"http://127.0.0.1:{self.port}/json/new?about:blank", timeout=PATIENCE).json()
        tab = Tab(target["webSocketDebuggerUrl"], width, height, scheme)
        tab.visit(url)
        return tab

    def close(self):
        end(self.process)
        self.log.close()
        self.folder.cleanup()


class Tab:
    """A page; its complaints and requests are recorded."""

    def __init__(self, address: str, width: int, height: int, scheme: str):
        self.opened = contextlib.ExitStack()
        self.socket = self.opened.enter_context(connect(address, max_size=MESSAGE_LIMIT))
        self.numbers = itertools.count(1)
        self.complaints: list[str] = []
        self.requested: list[str] = []
        self.dialogs: list[str] = []
        self.posted: dict[str, str] = {}
        self.stand_ins: dict[str, str] = {}
        # The tree for screen readers is made when it is asked for: kept up to date, it makes each change of a page dear.
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.send(f"{domain}.enable")
        self.size(width, height)
        # Several pages are open, and each behaves as if it had the focus.
        self.send("Emulation.setFocusEmulationEnabled", enabled=True)
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def size(self, width: int, height: int):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def send(self, method: str, **parameters) -> dict:
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        last = time.monotonic() + PATIENCE
        while time.monotonic() < last:
            message = json.loads(self.socket.recv(timeout=PATIENCE))
            if message.get("id") == number:
                if "error" in message:
                    raise Stale(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)
        raise AssertionError(f"{method} was not answered")

    def note(self, message: dict):
        parameters = message.get("params", {})
        match message.get("method"):
            case "Log.entryAdded":
                entry = parameters["entry"]
                # A call answered with 4xx is not an error of the page.
                if entry["level"] in ("error", "warning") and entry["source"] != "network":
                    self.complaints.append(entry["text"])
            case "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                self.complaints.append(details.get("exception", {}).get("description", details["text"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "assert"):
                self.complaints.append(str(parameters["args"]))
            case "Network.requestWillBeSent":
                self.requested.append(parameters["request"]["url"])
                self.posted[self.requested[-1]] = parameters["request"].get("postData", "")
            case "Page.frameRequestedNavigation":
                # An address of another scheme is never requested.
                self.requested.append(parameters["url"])
            case "Fetch.requestPaused":
                self.answer(parameters["requestId"], parameters["request"]["url"])
            case "Page.javascriptDialogOpening":
                self.dialogs.append(parameters["message"])
                self.socket.send(json.dumps(
                    {"id": next(self.numbers), "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}))

    def stand_in(self, origin: str, page: str = "<!DOCTYPE html><title>App</title><p>This is the app."):
        """From now on each address of this origin shows this page, as if a server there answered."""
        self.stand_ins[origin] = page
        self.send("Fetch.enable", patterns=[{"urlPattern": f"{each}/*"} for each in self.stand_ins])

    def answer(self, request: str, url: str):
        page = next(page for origin, page in self.stand_ins.items() if url.startswith(origin))
        self.socket.send(json.dumps({"id": next(self.numbers), "method": "Fetch.fulfillRequest", "params": {
            "requestId": request, "responseCode": 200, "body": base64.b64encode(page.encode()).decode(),
            "responseHeaders": [{"name": "Content-Type", "value": "text/html;charset=utf-8"}]}}))

    def visit(self, url: str):
        self.send("Page.navigate", url=url)
        # The initial blank page is complete, too.
        self.until("location.href !== 'about:blank' && document.readyState === 'complete'")

    def reload(self):
        self.run("window.isOld = true; location.reload()")
        self.until("!window.isOld && document.readyState === 'complete'")

    def run(self, script: str):
        """The value of an expression; promises are awaited."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, script: str, seconds: float = WAIT):
        """Waits until an expression is true, and returns its value."""
        # A page that is still loading has no body.
        guarded = f"(() => {{ try {{ return {script.rstrip(';')} }} catch {{ return null }} }})()"
        return self.again(lambda: self.run(guarded), f"{script} did not come true", seconds)

    def again(self, attempt, complaint: str, seconds: float = WAIT):
        """Retries until an attempt succeeds: the page changes, so what was found may be gone a moment later."""
        last, stale = time.monotonic() + seconds, None
        while time.monotonic() < last:
            try:
                if value := attempt():
                    return value
            except Stale as problem:
                stale = problem
            time.sleep(PAUSE)
        raise AssertionError(f"{complaint}{f' ({stale})' if stale else ''}; the page says: {self.text()[:2000]}")

    def text(self) -> str:
        return self.run("document.body.innerText")

    def see(self, *words: str, seconds: float = WAIT):
        """Waits until the page shows these words."""
        for word in words:
            self.until(f"document.body.innerText.includes({json.dumps(word)})", seconds)

    def nodes(self, role: str | None = None, name: str | None = None) -> list[dict]:
        """The elements a screen reader finds with this role and name; a star at an end of the name matches anything."""
        root = self.send("DOM.getDocument", depth=0)["root"]["nodeId"]
        query = {"nodeId": root, **({"role": role} if role else {})}
        if name and "*" not in name[:1] + name[-1:]:
            query["accessibleName"] = name
        found = [node for node in self.send("Accessibility.queryAXTree", **query)["nodes"] if not node.get("ignored")]
        names = [node.get("name", {}).get("value", "") for node in found]
        if name and name.endswith("*"):
            found = [node for node, its in zip(found, names) if its.startswith(name[:-1])]
        elif name and name.startswith("*"):
            found = [node for node, its in zip(found, names) if its.endswith(name[1:])]
        return found

    def find(self, role: str, name: str, seconds: float = WAIT) -> dict:
        """Waits until such an element exists."""
        return self.again(lambda: self.nodes(role, name), f"there is no {role} “{name}”", seconds)[0]

    def gone(self, role: str, name: str):
        """Waits until no such element exists."""
        self.again(lambda: not self.nodes(role, name), f"there still is a {role} “{name}”")

    def call(self, node: dict, function: str, *arguments):
        target = self.send("DOM.resolveNode", backendNodeId=node["backendDOMNodeId"])["object"]["objectId"]
        answer = self.send(
            "Runtime.callFunctionOn", objectId=target, functionDeclaration=function, returnByValue=True, userGesture=True,
            awaitPromise=True, arguments=[{"value": each} for each in arguments])
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, role: str, name: str):
        """Clicks the center of the element with this role and name, once it stops moving and nothing covers it."""
        self.again(lambda: self.hit(role, name), f"no click arrived at the {role} “{name}”")

    def hit(self, role: str, name: str) -> bool:
        nodes = self.nodes(role, name)
        if not nodes:
            return False
        first, second = self.call(nodes[0], PLACE), self.call(nodes[0], PLACE)
        if not first or first != second:
            return False
        self.call(nodes[0], MARK)
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=first[0], y=first[1], button="left", clickCount=1)
        # A click that leads to another page loses the mark. A click that is only late must not be repeated.
        last = time.monotonic() + 1
        while (is_hit := self.run("window.hitHere")) is False and time.monotonic() < last:
            time.sleep(0.02)
        return is_hit is not False

    def unfold(self, name: str):
        """Opens the fold with this name, or with a name that starts so if it ends with a star."""
        fits = f"text.startsWith({json.dumps(name[:-1])})" if name.endswith("*") else f"text === {json.dumps(name)}"
        self.until(f"""(() => {{
            const fold = [...document.querySelectorAll('summary')].find(({{textContent: text}}) => {fits})?.parentElement;
            if (fold && !fold.open) fold.firstElementChild.click();
            return fold?.open;
        }})()""")

    def type(self, role: str, name: str, text: str):
        """Replaces a field's content as a person would, with the events that the page expects."""
        self.again(lambda: self.replace(role, name, text), f"there is no {role} “{name}” that takes “{text[:40]}”")

    def replace(self, role: str, name: str, text: str) -> bool:
        nodes = self.nodes(role, name)
        # The options may appear later than the list.
        return bool(nodes) and self.call(nodes[0], """function(text) {
            if (this.disabled || (this.options && ![...this.options].some(({value}) => value === text))) return false;
            this.focus();
            this.value = text;
            this.dispatchEvent(new Event('input', {bubbles: true}));
            this.dispatchEvent(new Event('change', {bubbles: true}));
            return true;
        }""", text)

    def choose(self, name: str, value: str):
        self.type("combobox", name, value)

    def press(self, key: str):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, text=text if kind == "keyDown" else "",
                      windowsVirtualKeyCode={"Enter": 13, "Escape": 27}.get(key, 0))

    def copied(self, role: str, name: str) -> str:
        """Clicks a copy button and returns the copied text."""
        self.run("window.copy = null; document.addEventListener('copied', event => { window.copy = event.detail; }, {once: true}); 1")
        self.click(role, name)
        return self.until("window.copy")

    def settle(self):
        """Waits until the view is complete: it stays the same for a third of a second."""
        looks: list[str] = []

        def same() -> bool:
            looks.append(self.run("document.querySelector('main').innerHTML"))
            return len(looks) > 7 and len(set(looks[-7:])) == 1

        self.again(same, "the view did not come to rest")

    def picture(self, path: str):
        Path(path).write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        # An open page keeps its long poll, and a browser makes at most six connections to a server.
        self.send("Page.close")
        self.opened.close()
