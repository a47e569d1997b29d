"""What can go wrong, each with words of the server where it has any."""

from __future__ import annotations

from typing import Dict, Type


class UnderstudyError(Exception):
    """Any error of this package."""


class StartFailed(UnderstudyError):
    """No server was started: there is no program, or it ended with a complaint."""


class Unreachable(UnderstudyError):
    """No server answered, or what answered is not Understudy."""


class Refusal(UnderstudyError):
    """The server refused a control call; the text is its own and says what would be right."""

    def __init__(self, call: str, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.call = call
        self.status = status
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.message} ({self.call} answered {self.status} {self.code})"


class Invalid(Refusal):
    """400: a wrong member, value or query."""


class Unauthorized(Refusal):
    """401: the control token is missing or another one."""


class Forbidden(Refusal):
    """403: the call could come from a web page of another origin, mostly because of the host's name."""


class NotFound(Refusal):
    """404: nothing has the name that the call names."""


class TooLarge(Refusal):
    """413: the content is longer than the server takes."""


class UnmetExpectation(AssertionError):
    """The journal does not hold the calls that a test expects; the text lists the nearest and what each missed."""


REFUSALS: Dict[int, Type[Refusal]] = {400: Invalid, 401: Unauthorized, 403: Forbidden, 404: NotFound, 413: TooLarge}
