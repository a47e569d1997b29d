"""A Chromium that a test drives as a person does, over the DevTools protocol: it finds things by role and name."""

import base64
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

# A machine with other work to do may take its time.
PATIENCE = 60
MESSAGE_LIMIT = 1 << 30


class Browser:
    """One headless browser for many pages."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="understudy-devtools-")
        home = {name: self.folder.name for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        self.log = (Path(self.folder.name) / "log").open("w")
        self.process = subprocess.Popen(
            [program(), "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
             "--no-sandbox", f"--user-data-dir={self.folder.name}/profile", "--remote-debugging-port=0", "about:blank"],
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
    """A page: what it complained of and asked for is kept."""

    def __init__(self, address: str, width: int, height: int, scheme: str):
        self.socket = connect(address, max_size=MESSAGE_LIMIT)
        self.numbers = itertools.count(1)
        self.complaints: list[str] = []
        self.requested: list[str] = []
        self.dialogs: list[str] = []
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility", "DOM"):
            self.send(f"{domain}.enable")
        self.size(width, height)
        # Several pages are open, and each believes that it is the one in front.
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
                assert "error" not in message, f"{method}: {message['error']}"
                return message["result"]
            self.note(message)
        raise AssertionError(f"{method} was not answered")

    def note(self, message: dict):
        parameters = message.get("params", {})
        match message.get("method"):
            case "Log.entryAdded":
                entry = parameters["entry"]
                # A call that is answered 4xx is no fault of the page.
                if entry["level"] in ("error", "warning") and entry["source"] != "network":
                    self.complaints.append(entry["text"])
            case "Runtime.exceptionThrown":
                details = parameters["exceptionDetails"]
                self.complaints.append(details.get("exception", {}).get("description", details["text"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "assert"):
                self.complaints.append(str(parameters["args"]))
            case "Network.requestWillBeSent":
                self.requested.append(parameters["request"]["url"])
            case "Page.javascriptDialogOpening":
                self.dialogs.append(parameters["message"])
                self.socket.send(json.dumps(
                    {"id": next(self.numbers), "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}))

    def visit(self, url: str):
        self.send("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def run(self, script: str):
        """The value of an expression; promises are waited for."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, script: str, seconds: float = 20):
        """Waits until an expression holds, and gives its value."""
        last = time.monotonic() + seconds
        while time.monotonic() < last:
            # While a page is loading there is no body to look at.
            if value := self.run(f"(() => {{ try {{ return {script.rstrip(';')} }} catch {{ return null }} }})()"):
                return value
            time.sleep(0.05)
        raise AssertionError(f"{script} did not come true; the page says: {self.text()[:2000]}")

    def text(self) -> str:
        return self.run("document.body.innerText")

    def see(self, *words: str, seconds: float = 20):
        """Waits until the page shows these words."""
        for word in words:
            self.until(f"document.body.innerText.includes({json.dumps(word)})", seconds)

    def nodes(self, role: str | None = None, name: str | None = None, within: str | None = None) -> list[dict]:
        """What a screen reader finds of that role whose name is, or with a star at its end begins with, that name."""
        root = self.send("DOM.getDocument", depth=0)["root"]["nodeId"]
        if within:
            root = self.send("DOM.querySelector", nodeId=root, selector=within)["nodeId"]
        query = {"nodeId": root, **({"role": role} if role else {})}
        if name and not name.endswith("*"):
            query["accessibleName"] = name
        found = [node for node in self.send("Accessibility.queryAXTree", **query)["nodes"] if not node.get("ignored")]
        if name and name.endswith("*"):
            found = [node for node in found if node.get("name", {}).get("value", "").startswith(name[:-1])]
        return found

    def find(self, role: str, name: str, seconds: float = 20) -> dict:
        last = time.monotonic() + seconds
        while time.monotonic() < last:
            if found := self.nodes(role, name):
                return found[0]
            time.sleep(0.05)
        raise AssertionError(f"there is no {role} “{name}”; the page says: {self.text()[:2000]}")

    def call(self, node: dict, function: str, *arguments):
        target = self.send("DOM.resolveNode", backendNodeId=node["backendDOMNodeId"])["object"]["objectId"]
        answer = self.send(
            "Runtime.callFunctionOn", objectId=target, functionDeclaration=function, returnByValue=True, userGesture=True,
            awaitPromise=True, arguments=[{"value": each} for each in arguments])
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, role: str, name: str):
        """A click at the middle of what has that role and name."""
        node = self.find(role, name)
        box = self.call(node, """function() {
            this.scrollIntoView({block: 'center', inline: 'nearest'});
            const {left, top, width, height} = this.getClientRects()[0];
            return [left + width / 2, top + height / 2];
        }""")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def type(self, role: str, name: str, text: str):
        """Replaces what a field holds, as a person would: the page hears of it."""
        self.call(self.find(role, name), """function(text) {
            this.focus();
            this.value = text;
            this.dispatchEvent(new Event('input', {bubbles: true}));
            this.dispatchEvent(new Event('change', {bubbles: true}));
        }""", text)

    def choose(self, name: str, value: str):
        self.type("combobox", name, value)

    def press(self, key: str):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, text=text if kind == "keyDown" else "",
                      windowsVirtualKeyCode={"Enter": 13, "Escape": 27}.get(key, 0))

    def copied(self, role: str, name: str) -> str:
        """Clicks what copies, and gives the copy."""
        self.run("window.copy = null; document.addEventListener('copied', event => { window.copy = event.detail; }, {once: true}); 1")
        self.click(role, name)
        return self.until("window.copy")

    def picture(self, path: str):
        Path(path).write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        # A page that stays open keeps its long poll, and a browser makes six connections to a server.
        self.send("Page.close")
        self.socket.close()
