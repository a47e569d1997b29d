"""The fenced blocks of the README and of the documentation, each with the mark above it that says how it is tested.

| mark | the block |
|---|---|
| none, on `sh` | is run against the server; every call in it must succeed |
| `refused` | is run, and its calls may be refused |
| `exits: CODE` | is run, and ends with that code |
| `prints` | is what the block above it prints; `…` stands for anything |
| `from: PATH` | stands in that file of the repository, which is compiled or run by a test of its own |
| `tested: PATH` | is read and run by that test |
| `fixture: PATH` | is a fixture file that is taken at that place |
| `configuration` | is a configuration file |
| `run`, `test` | is a command that CI reads and runs |
| `install` | is run by a test of its own |
| `not run: REASON` | cannot be run here |
"""

import re
from dataclasses import dataclass
from pathlib import Path

from world import ROOT

CATALOG = ROOT / "Sources/Understudy/Understudy.docc"
README = ROOT / "README.md"
FILES = [README, *sorted(CATALOG.glob("*.md"))]
MARKS = {
    "", "refused", "exits", "prints", "from", "tested", "fixture", "configuration", "run", "test", "install", "not run"}
BLOCK = re.compile(r"^(?:<!-- (?P<mark>[^\n]*) -->\n\n?)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.S | re.M)


@dataclass
class Block:
    file: Path
    line: int
    language: str
    text: str
    mark: str
    """The mark's name, such as `not run`."""
    detail: str
    """What follows its colon."""
    above: "Block | None"
    """The block before it in the file."""

    @property
    def is_run(self) -> bool:
        return self.language == "sh" and self.mark in ("", "refused", "exits")

    def __str__(self) -> str:
        return f"{self.file.name}:{self.line}"


def blocks_of(file: Path) -> list[Block]:
    text, found = file.read_text(), []
    for match in BLOCK.finditer(text):
        mark, _, detail = (match["mark"] or "").partition(": ")
        line = text.count("\n", 0, match.start("language")) + 1
        found.append(Block(
            file, line, match["language"], match["text"], mark, detail, found[-1] if found else None))
    return found


BLOCKS = [block for file in FILES for block in blocks_of(file)]
