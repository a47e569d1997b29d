"""What a database of serve --state holds: an SQLite file, or a PostgreSQL."""

import contextlib
import sqlite3
from pathlib import Path

from postgres import Postgres


class Database:
    """The stored sandboxes and their size, and what was written since the last look."""

    def __init__(self, place: Path | Postgres):
        self.place, self.written, self.bytes = place, 0.0, 0.0

    @property
    def state(self) -> str:
        return self.place.url() if isinstance(self.place, Postgres) else str(self.place)

    def rest(self) -> list[str]:
        """The stored sandboxes, but `default`, whose mark distinguishes sessions from before a reset."""
        if isinstance(self.place, Postgres):
            return [name for name, in self.place.query(
                "SELECT DISTINCT sandbox FROM understudy.records WHERE sandbox <> 'default'")]
        with contextlib.closing(sqlite3.connect(f"file:{self.place}?mode=ro", uri=True, timeout=10)) as database:
            return [name for name, in database.execute("SELECT name FROM sandboxes WHERE name <> 'default'")]

    def size(self) -> int:
        if isinstance(self.place, Postgres):
            return int(self.place.query("SELECT pg_database_size('understudy')")[0][0])
        return sum(path.stat().st_size for path in self.place.parent.glob(f"{self.place.name}*"))

    def look(self, metrics: dict) -> dict:
        changes, written = metrics["understudy_state_changes_written_total"], metrics["understudy_state_bytes_written_total"]
        row = {"stored": len(self.rest()), "database_mb": self.size() / (1 << 20), "written": changes - self.written,
               "written_mb": (written - self.bytes) / (1 << 20), "refused": metrics["understudy_state_write_failures_total"]}
        self.written, self.bytes = changes, written
        return row
