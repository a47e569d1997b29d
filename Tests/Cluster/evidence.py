"""What logs and the database say of owners: that no sandbox had two, and that each change of owner has an epoch."""

import json
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

# The log's times are whole milliseconds.
ROUNDING = 0.002


@dataclass
class Span:
    """A time in which one server answered."""

    session: str
    begin: float
    end: float


def read_logs(logs: list[Path]) -> dict[str, list[Span]]:
    """The exchanges of each sandbox by its name."""
    lines = defaultdict(list)
    for path in logs:
        for text in path.read_text(errors="replace").splitlines():
            try:
                members = json.loads(text)
            except ValueError:
                continue  # the last line of a killed server
            if members.get("message") == "exchange":
                end = datetime.fromisoformat(members["time"]).timestamp()
                lines[members["sandbox"]].append(Span(path.stem, end - float(members["duration_ms"]) / 1000, end))
    return lines


def check(logs: list[Path], epochs: dict[str, int], problems: list[str]) -> str:
    """Compares all logs with the epochs; what there was to compare."""
    lines, moves = read_logs(logs), 0
    for name, exchanges in lines.items():
        spans: list[Span] = []
        for each in sorted(exchanges, key=lambda each: each.begin):
            if spans and spans[-1].session == each.session:
                spans[-1].end = max(spans[-1].end, each.end)
                continue
            if spans and each.begin < spans[-1].end - ROUNDING:
                problems.append(f"{name}: {spans[-1].session} answered until {spans[-1].end:.3f}, and {each.session} already "
                                f"at {each.begin:.3f}")
            spans.append(each)
        moves += len(spans) - 1
        if len(spans) > epochs.get(name, 0):
            problems.append(f"{name} had {len(spans)} owners in {epochs.get(name)} epochs")
    exchanges = sum(map(len, lines.values()))
    return f"{exchanges} exchanges and {moves} changes of owner in the logs, {sum(epochs.values())} epochs in the database"
