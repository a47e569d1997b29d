"""Unread output blocks nothing, and a stop ends within its limits: the log, the banner, terminals, long polls."""

import contextlib
import fcntl
import http.client
import json
import os
import pty
import re
import signal
import socket
import subprocess
import threading
import time

import pytest
from child import needs_proc
from world import BINARY

LINE = re.compile(r"[0-9T:.Z-]+ 404 - - GET /(\d+)/\w*(?: (?!.* GET /).*)?|[0-9T:.Z-]+ warning (\d+) lines? of the log dropped: .*\.")
LONG = "x" * 3000  # of a path, so that a log fills quickly


class Program:
    """The program with separate standard output and standard error."""

    def __init__(self, folder, *options, preexec_fn=None, **streams):
        port_file = folder / "port"

        def prepare():
            # Where nohup started the tests, everything they start ignores it too.
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            if preexec_fn:
                preexec_fn()

        self.process = subprocess.Popen(
            [BINARY, "serve", "--port", "0", "--port-file", port_file, *options], cwd=folder, preexec_fn=prepare,
            **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **streams})
        end = time.monotonic() + 15
        while not port_file.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                raise RuntimeError("understudy did not start")
            time.sleep(0.01)
        self.port = int(port_file.read_text().split()[1])

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)

    def ask(self, count: int, path: str = LONG, start: int = 0) -> None:
        """Sends this many requests that no vendor owns; each is logged on a line with its number."""
        connection = self.connect()
        for number in range(start, start + count):
            connection.request("GET", f"/{number}/{path}")
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 404
        connection.close()

    def dropped(self) -> int:
        connection = self.connect()
        connection.request("GET", "/_understudy/metrics")
        text = connection.getresponse().read().decode()
        return int(re.search(r"^understudy_log_lines_dropped_total (\d+)$", text, re.MULTILINE)[1])

    def end(self, which: int = signal.SIGTERM) -> int:
        self.process.send_signal(which)
        return self.process.wait(30)


@contextlib.contextmanager
def running(folder, *options, **streams):
    program = Program(folder, *options, **streams)
    try:
        yield program
    finally:
        program.process.kill()
        program.process.wait()


def filled(pipe: int) -> None:
    """Fills a pipe to the last byte."""
    flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    for size in (4096, 1):
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(pipe, b"\n" * size)
    fcntl.fcntl(pipe, fcntl.F_SETFL, flags)


def numbers(text: str) -> tuple[list[int], int]:
    """The requests in the log, in order, and the number of dropped lines; there must be no other lines."""
    found, dropped = [], 0
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        assert match, f"a line is torn or mixed: {line[:200]!r} … {line[-100:]!r}"
        if match[1]:
            found.append(int(match[1]))
        else:
            dropped += int(match[2])
    return found, dropped


def test_a_log_that_nobody_reads_stops_nothing(tmp_path):
    reader, writer = os.pipe()
    with running(tmp_path, stderr=writer) as program:
        os.close(writer)
        # More than two megabytes of lines are queued before the first is dropped.
        program.ask(4000)
        assert program.dropped() > 0
        # Reading resumes: first the queued lines, then the number of missing ones, then new lines.
        received = bytearray()
        thread = threading.Thread(target=lambda: [received.extend(part) for part in iter(lambda: os.read(reader, 65536), b"")])
        thread.start()
        number = 4000
        while b" lines of the log dropped" not in received:
            program.ask(1, start=number)
            number += 1
        program.ask(3, start=number)
        dropped = program.dropped()
        assert program.end() == 0
        thread.join()
    os.close(reader)
    found, told = numbers(received.decode())
    assert told == dropped
    assert len(found) + dropped == number + 3
    assert found == sorted(found)
    assert found[-3:] == [number, number + 1, number + 2]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_full_pipe_for_both_outputs_holds_up_neither_start_nor_stop(tmp_path, form):
    reader, writer = os.pipe()
    filled(writer)
    with running(tmp_path, "--log", form, stdout=writer, stderr=writer) as program:
        os.close(writer)
        program.ask(700)
        begin = time.monotonic()
        assert program.end() == 0
        assert time.monotonic() - begin < 9
    os.close(reader)


def test_a_reader_that_has_gone_costs_its_lines_alone(tmp_path):
    reader, writer = os.pipe()
    with running(tmp_path, stderr=writer) as program:
        os.close(writer)
        os.close(reader)
        program.ask(50, "short")
        end = time.monotonic() + 10
        while program.dropped() < 50 and time.monotonic() < end:
            time.sleep(0.01)
        assert program.dropped() == 50
        assert program.end() == 0


@needs_proc
def test_a_full_disk_costs_its_lines_alone(tmp_path):
    with open("/dev/full", "w") as full, running(tmp_path, stderr=full) as program:
        program.ask(20, "short")
        end = time.monotonic() + 10
        while program.dropped() < 20 and time.monotonic() < end:
            time.sleep(0.01)
        assert program.dropped() == 20
        assert program.end() == 0


def test_a_pipe_that_does_not_block_gets_every_line(tmp_path):
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with running(tmp_path, stderr=writer) as program:
        os.close(writer)
        asking = threading.Thread(target=program.ask, args=(600,))
        asking.start()
        received = b""
        while received.count(b"\n") < 600:
            received += os.read(reader, 5000)
        asking.join()
        assert program.end() == 0
    os.close(reader)
    assert numbers(received.decode()) == (list(range(600)), 0)


def test_lines_of_several_connections_are_whole_and_the_last_one_is_there(tmp_path):
    log = tmp_path / "log.txt"
    with log.open("w") as file, running(tmp_path, stderr=file) as program:
        threads = [threading.Thread(target=program.ask, args=(300, "x" * 10 ** (index % 4), 300 * index)) for index in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert program.end() == 0
    found, dropped = numbers(log.read_text())
    assert (sorted(found), dropped) == (list(range(1800)), 0)
    for index in range(6):
        share = [number for number in found if number // 300 == index]
        assert share == sorted(share)


def test_without_standard_error_no_socket_gets_the_log(tmp_path):
    with running(tmp_path, stdout=None, stderr=None, preexec_fn=lambda: [os.close(number) for number in (0, 1, 2)]) as program:
        program.ask(20, "short")
        assert program.end() == 0


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_each_of_the_signals_ends_it_with_an_export(tmp_path, which):
    state = tmp_path / "state.json"
    with running(tmp_path, "--export-on-exit", str(state)) as program:
        assert program.end(which) == 0
    assert json.loads(state.read_text())["understudy_state"] == 2


@pytest.mark.parametrize("is_blocking", [True, False])
def test_the_end_of_its_input_ends_it_with_an_export(tmp_path, is_blocking):
    state = tmp_path / "state.json"
    reader, writer = os.pipe()
    os.set_blocking(reader, is_blocking)
    with running(tmp_path, "--until-stdin-closes", "--export-on-exit", str(state), stdin=reader) as program:
        os.close(reader)
        for _ in range(20):
            os.write(writer, b"x" * 10_000)
        program.ask(3, "short")
        assert program.process.poll() is None
        os.close(writer)
        assert program.process.wait(20) == 0
    assert json.loads(state.read_text())["understudy_state"] == 2


def test_an_input_that_has_no_more_ends_it_at_once(tmp_path):
    for content in ("", "line\n"):
        (tmp_path / "input").write_text(content)
        with (tmp_path / "input").open() as input:
            said = subprocess.run(
                [BINARY, "serve", "--port", "0"], env={**os.environ, "UNDERSTUDY_UNTIL_STDIN_CLOSES": "true"}, stdin=input,
                cwd=tmp_path, capture_output=True, timeout=20)
        assert (said.returncode, said.stderr) == (0, b"")
    assert subprocess.run([BINARY, "serve", "--port", "0", "--until-stdin-closes"], stdin=subprocess.DEVNULL, timeout=20).returncode == 0


def test_the_end_of_its_input_is_nothing_to_it_otherwise(tmp_path):
    with running(tmp_path, stdin=subprocess.DEVNULL) as program:
        program.ask(3, "short")
        assert program.process.poll() is None
        assert program.end() == 0


def test_a_terminal_that_closes_ends_it_with_an_export(tmp_path):
    state = tmp_path / "state.json"
    master, terminal = pty.openpty()

    def take_terminal():
        os.setsid()
        fcntl.ioctl(terminal, 0x540E if os.uname().sysname == "Linux" else 0x20007461, 0)  # TIOCSCTTY

    with running(
        tmp_path, "--export-on-exit", str(state), stdin=terminal, stdout=terminal, stderr=terminal,
        preexec_fn=take_terminal,
    ) as program:
        os.close(terminal)
        program.ask(3, "short")
        os.close(master)
        assert program.process.wait(20) == 0
    assert json.loads(state.read_text())["understudy_state"] == 2


def test_whom_nohup_started_outlives_its_terminal(tmp_path):
    with running(tmp_path, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as program:
        program.process.send_signal(signal.SIGHUP)
        program.ask(3, "short")
        assert program.process.poll() is None
        assert program.end() == 0


POLLS = {
    "journal": ("GET", "/_understudy/journal?wait=60s&count=9", b""),
    "verify": ("POST", "/_understudy/journal/verify?wait=60s", b'{"at_least":9}'),
}


@pytest.mark.parametrize("late", [False, True], ids=["waiting", "arriving"])
@pytest.mark.parametrize("call", POLLS)
def test_long_polls_end_with_a_stop(tmp_path, call, late):
    """Polls that are waiting, and polls whose last byte arrives after the stop has begun."""
    method, path, body = POLLS[call]
    request = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    with running(tmp_path) as program:
        clients = [socket.create_connection(("127.0.0.1", program.port), 20) for _ in range(8)]
        for client in clients:
            client.sendall(request[:-1] if late else request)
        # An answer here shows that the other requests have been read.
        program.ask(1, "short")
        program.process.send_signal(signal.SIGTERM)
        begin = time.monotonic()
        if late:
            with contextlib.suppress(OSError):
                while True:
                    socket.create_connection(("127.0.0.1", program.port), 20).close()
            for client in clients:
                client.sendall(request[-1:])
        for client in clients:
            answer = http.client.HTTPResponse(client)
            answer.begin()
            assert answer.status == (200 if call == "journal" else 409)
            answer.read()
            client.close()
        assert program.process.wait(20) == 0
        # Otherwise they would have waited ten seconds.
        assert time.monotonic() - begin < 8
