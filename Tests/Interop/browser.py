"""A headless Chromium that opens a test page, which reports what it saw."""

import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

PAGES = Path(__file__).parent / "pages"
PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
APPLICATIONS = [f"/Applications/{name}.app/Contents/MacOS/{name}" for name in ("Chromium", "Google Chrome")]
# On a busy machine, the start alone may take a while.
PATIENCE = 90


class NoBrowser(Exception):
    """No browser is installed."""


def program() -> str:
    """The browser named by $UNDERSTUDY_BROWSER, or the first one found."""
    chosen = os.environ.get("UNDERSTUDY_BROWSER")
    for name in [chosen] if chosen else [*PROGRAMS, *APPLICATIONS]:
        if found := shutil.which(name):
            return found
    raise NoBrowser(
        f"there is no {chosen}, which UNDERSTUDY_BROWSER names" if chosen else
        "no Chromium is installed; run docker/bootstrap.sh ci, or install one: on Debian apt-get install"
        " chromium-headless-shell, on macOS brew install --cask chromium, elsewhere Chromium or Chrome, and name it in"
        " UNDERSTUDY_BROWSER if it is not in PATH")


class Pages(ThreadingHTTPServer):
    """The origin of the test pages, to which they post their results."""

    def __init__(self, handler: type["Handler"] | None = None):
        super().__init__(("127.0.0.1", 0), handler or Handler)
        self.told: queue.Queue = queue.Queue()
        self.origin = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(SimpleHTTPRequestHandler):
    folder = PAGES

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=self.folder)

    def do_POST(self):
        self.server.told.put(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def visit(
    page: str, host: str = "127.0.0.1", address: str | None = None, frames: int = 0, handler: type[Handler] = Handler,
    **query: str,
) -> dict:
    """Opens a page with this query; returns what it finally posts to its own origin.

    The browser resolves any host ending in `.example` to this machine. An address replaces the page; {origin} in it
    stands for our own origin. `frames` is the number of documents that must have been refused in a frame. A handler may
    serve more than our pages.
    """
    with Pages(handler) as pages, tempfile.TemporaryDirectory(prefix="understudy-browser-") as folder:
        log = Path(folder) / "log"
        origin = pages.origin.replace("127.0.0.1", host)
        # Our own query is encoded as a whole; an address is used as it is.
        url = address.replace("{origin}", pages.origin) if address else (
            f"{origin}/{page}?{urlencode({**query, 'origin': pages.origin})}")
        command = [
            program(), "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server",
            "--host-resolver-rules=MAP *.example 127.0.0.1", "--enable-logging=stderr",
            # The page belongs to the tests, and containers do not support the sandbox.
            "--no-sandbox", f"--user-data-dir={folder}/profile", "--remote-debugging-port=0", url]
        with log.open("w") as output:
            # A separate home, since the browser leaves files there.
            home = {"HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder}
            browser = subprocess.Popen(
                command, stdout=output, stderr=output, start_new_session=True, env={**os.environ, **home})
        try:
            seen = told(pages, browser, page, log)
            await_refusals(frames, log)
            return seen
        finally:
            end(browser)


def told(pages: Pages, browser: subprocess.Popen, page: str, log: Path) -> dict:
    """What the page posts before the browser ends or the time is up."""
    last = time.monotonic() + PATIENCE
    while time.monotonic() < last:
        # A post just before the browser ends still counts.
        state = browser.poll()
        try:
            return pages.told.get(timeout=0.2)
        except queue.Empty:
            if state is not None:
                break
    state = browser.poll()
    raise AssertionError(
        f"{page} told nothing within {PATIENCE} s; the browser "
        f"{'still ran' if state is None else f'ended with code {state}'}:\n{log.read_text()}")


def await_refusals(count: int, log: Path) -> None:
    """Waits until the browser has logged this many documents refused in a frame; scripts cannot detect that."""
    last = time.monotonic() + PATIENCE / 3
    while (refused := log.read_text().count("frame-ancestors 'none'")) < count:
        assert time.monotonic() < last, f"{refused} of {count} frames were refused:\n{log.read_text()}"
        time.sleep(0.1)


def end(browser: subprocess.Popen) -> None:
    """Ends the browser with its helpers: Debian's command is a script, which would end without them."""
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(browser.pid, signal_number)
            browser.wait(5)
            wait_for_group(browser.pid, 5)
        except (ProcessLookupError, PermissionError):
            return
        except subprocess.TimeoutExpired:
            continue


def wait_for_group(group: int, seconds: float) -> None:
    """Waits until a group has no process left, which the system reports as an error for the signal."""
    last = time.monotonic() + seconds
    while time.monotonic() < last:
        os.killpg(group, 0)
        time.sleep(0.02)
    raise subprocess.TimeoutExpired("the browser's helpers", seconds)
