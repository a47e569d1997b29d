"""The files of a state folder (serve --state DIR)."""

from pathlib import Path


def bucket(name: str) -> str:
    """The folder between: the first 12 bits of FNV-1a of the sandbox's name."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return f"{value >> 52:03x}"


def files_of(folder: Path, sandbox: str) -> dict[int, bytes]:
    """What a sandbox's files hold, by their fencing numbers."""
    found = {}
    for path in (folder / "sandboxes" / bucket(sandbox)).glob(f"{sandbox}.*.json"):
        try:
            found[int(path.name.split(".")[1])] = path.read_bytes()
        except FileNotFoundError:
            pass  # its next owner has just removed it
    return found


def entries(folder: Path) -> list[Path]:
    """Everything below the folder's part for sandboxes that is not a folder: files, claims, unfinished ones."""
    return [path for path in (folder / "sandboxes").glob("*/*")]


class Folder:
    """What a state folder holds, and what was written to it since the last look."""

    def __init__(self, path: Path):
        self.path, self.written, self.bytes = path, 0.0, 0.0

    def look(self, metrics: dict) -> dict:
        sizes = []
        for path in entries(self.path):
            try:
                sizes.append(path.stat().st_size)
            except FileNotFoundError:
                pass  # removed since the folder was listed
        files, written = metrics["understudy_state_files_written_total"], metrics["understudy_state_bytes_written_total"]
        row = {"files": len(sizes), "folder_mb": sum(sizes) / (1 << 20), "written": files - self.written,
               "written_mb": (written - self.bytes) / (1 << 20), "refused": metrics["understudy_state_write_failures_total"]}
        self.written, self.bytes = files, written
        return row

    def rest(self) -> list[Path]:
        """What is there besides the folder's own files.

        The sandbox `default` is always there, and its file keeps the mark by which sessions from before a reset are told.
        """
        aside = self.path / "set-aside"
        return [path for path in entries(self.path) if not path.name.startswith("default.")] + (
            list(aside.iterdir()) if aside.exists() else [])
