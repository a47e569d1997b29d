"""What the server's process asks of the system."""

import resource
from pathlib import Path

from child import needs_proc
from world import Server


def mappings(process: int) -> list[int]:
    """The sizes of a process's writable memory without a file, in bytes."""
    sizes = []
    for line in Path(f"/proc/{process}/maps").read_text().splitlines():
        span, access, _, _, number, *_ = line.split()
        begin, end = (int(place, 16) for place in span.split("-"))
        if access == "rw-p" and number == "0":
            sizes.append(end - begin)
    return sizes


@needs_proc
def test_threads_reserve_two_megabytes_for_their_stacks(tmp_path):
    server = Server(tmp_path)
    usual, _ = resource.getrlimit(resource.RLIMIT_STACK)
    sizes = mappings(server.process.pid)
    assert server.stop() == 0
    assert usual != 2 << 20, "the system's own size would show nothing"
    assert sizes.count(usual) == 0, sizes
    assert sizes.count(2 << 20) >= 2, sizes
