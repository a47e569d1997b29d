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
    """Numbers of a journal in a row that one server gave, and when it had answered the first and the last of them."""

    session: str
    number: int
    first: float
    last: float


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
                lines[members["sandbox"]].append(Span(path.stem, int(members["entry"]), end, end))
    return lines


def check(logs: list[Path], epochs: dict[str, int], problems: list[str]) -> str:
    """Compares all logs with the epochs; what there was to compare."""
    lines, moves = read_logs(logs), 0
    for name, exchanges in lines.items():
        spans: list[Span] = []
        for each in sorted(exchanges, key=lambda each: (each.number, each.first)):
            if spans and spans[-1].number == each.number:
                problems.append(f"{name}: {spans[-1].session} and {each.session} gave the number {each.number}")
            if spans and spans[-1].session == each.session:
                each.first, each.last = min(each.first, spans[-1].first), max(each.last, spans[-1].last)
                spans[-1] = each
            else:
                spans.append(each)
        moves += len(spans) - 1
        for before, later in zip(spans, spans[1:]):
            if later.first < before.last - ROUNDING:
                problems.append(f"{name}: {before.session} answered until {before.last:.3f}, and {later.session}, whose numbers "
                                f"come later, at {later.first:.3f}")
        if len(spans) > epochs.get(name, 0):
            problems.append(f"{name} had {len(spans)} owners in {epochs.get(name)} epochs")
    exchanges = sum(map(len, lines.values()))
    return f"{exchanges} exchanges and {moves} changes of owner in the logs, {sum(epochs.values())} epochs in the database"
