"""The engine alone (`Tests/EngineProbe`), at endpoints without and with TLS."""

from pathlib import Path

from child import Child
from endpoint import Endpoint
from world import BINARY


class Probe(Child):
    """A separate probe, which is built where the program is."""

    def __init__(self, folder: Path):
        super().__init__([BINARY.parent / "EngineProbe", folder], folder, folder / "ports")
        self.doors = {
            "http": Endpoint("http", self.ports["http"]),
            "https": Endpoint("https", self.ports["https"], folder / "authority.pem"),
        }
