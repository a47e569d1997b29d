"""The engine alone (`Tests/EngineProbe`), at endpoints without and with TLS."""

from pathlib import Path

from child import Child
from endpoint import Endpoint
from world import BINARY


class Probe(Child):
    """A separate probe; the package's build produces it next to the emulator."""

    def __init__(self, folder: Path):
        super().__init__([BINARY.with_name("EngineProbe"), folder], folder, folder / "ports")
        self.doors = {
            "http": Endpoint("http", self.ports["http"]),
            "https": Endpoint("https", self.ports["https"], folder / "authority.pem"),
        }
