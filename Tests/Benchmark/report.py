"""The report: a table for people, JSON for programs."""

import os
import platform
from dataclasses import asdict
from pathlib import Path


class Report:
    def __init__(self, binary: Path, scale):
        self.binary = binary
        self.scale = scale
        self.results: list[tuple[str, object]] = []

    def add(self, name: str, results: list) -> None:
        self.results += [(name, result) for result in results]

    def table(self) -> str:
        rows = [("what", "budget", "measured", "")]
        rows += [(r.what, r.budget, f"{r.value:.2f} {r.unit}".strip(), r.detail) for _, r in self.results]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[3]]).rstrip() for row in rows]
        scale = f"{self.scale.rounds} rounds of {self.scale.seconds} s, 64 connections, {os.cpu_count()} cores"
        return "\n".join([scale, *lines])

    def json(self) -> dict:
        return {
            "machine": platform.platform(), "cores": os.cpu_count(), "binary_bytes": self.binary.stat().st_size,
            "scale": asdict(self.scale), "results": [{"measurement": name, **asdict(r)} for name, r in self.results],
        }
