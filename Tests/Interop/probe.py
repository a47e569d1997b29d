"""The engine alone (`Tests/EngineProbe`), by its door in the clear and by its secured one."""

from pathlib import Path

from child import Child
from endpoint import Endpoint
from world import BINARY


class Probe(Child):
    """A probe of its own; the package's build makes it beside the emulator."""

    def __init__(self, folder: Path):
        super().__init__([BINARY.with_name("EngineProbe"), folder], folder, folder / "ports")
        self.doors = {
            "http": Endpoint("http", self.ports["http"]),
            "https": Endpoint("https", self.ports["https"], folder / "authority.pem"),
        }
