"""What the file system of a folder takes for the steps of a claim, measured here and now."""

import os
import statistics
import tempfile
import time
from pathlib import Path

ROUNDS = 100
DOCUMENT = b"x" * 2048  # bytes; a sandbox's file with a few changes


def median_of(act) -> float:
    """The median of so many calls, in seconds; `act` gets the number of the call."""
    times = []
    for number in range(ROUNDS):
        begin = time.perf_counter()
        act(number)
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def measure(place: str | None) -> dict[str, float]:
    """Seconds for each step, in a folder of its own below `place`."""
    with tempfile.TemporaryDirectory(prefix="understudy-costs-", dir=place) as folder:
        home = Path(folder)
        (home / "lease").write_bytes(DOCUMENT[:96])
        lease = os.open(home / "lease", os.O_RDWR)

        def write(number: int) -> None:
            with open(home / f"{number}.json", "wb") as file:
                file.write(DOCUMENT)
                os.fsync(file.fileno())

        costs = {
            "write and sync a file": median_of(write),
            "rename": median_of(lambda number: os.rename(home / f"{number}.json", home / f"{number}.2.json")),
            "read a file": median_of(lambda number: (home / f"{number}.2.json").read_bytes()),
            "claim (symbolic link)": median_of(lambda number: os.symlink("session", home / f"{number}.2.owner")),
            "remove": median_of(lambda number: os.unlink(home / f"{number}.2.owner")),
            "beat (write in place)": median_of(lambda number: os.pwrite(lease, DOCUMENT[:96], 0)),
        }
        os.close(lease)
        for count in (0, 100, 5000):
            listed = home / f"listed-{count}"
            listed.mkdir()
            for number in range(count):
                (listed / f"box-{number}.1.json").touch()
            costs[f"list {count} names"] = median_of(lambda _: os.listdir(listed))
        return costs


def listing(costs: dict[str, float], names: float) -> float:
    """Seconds to list a folder with that many names."""
    empty, full = costs["list 0 names"], costs["list 5000 names"]
    return empty + (full - empty) * names / 5000


def claim(costs: dict[str, float], names: float) -> float:
    """Seconds to take a sandbox over: list, claim, list again, remove the old claim, rename its file, read it."""
    steps = ("claim (symbolic link)", "remove", "rename", "read a file")
    return 2 * listing(costs, names) + sum(costs[step] for step in steps)
