"""What a client knows of one sandbox: its changes in order, and when each was answered."""

import itertools
import time


class History:
    """The changes of one sandbox since a known state.

    A change is noted before it is sent: without an answer it may be there or not. `after(state, change)` is the state
    that a change leads to; states compare by value.
    """

    def __init__(self, base, after):
        self.base, self.after = base, after
        self.changes: list = []
        self.answered: list[float] = []

    def note(self, change) -> None:
        self.changes.append(change)

    def note_answer(self) -> None:
        self.answered.append(time.monotonic())

    def states(self) -> list:
        """The states after no change, after the first, after the second, and so on."""
        return list(itertools.accumulate(self.changes, self.after, initial=self.base))

    def newest(self, seen) -> int | None:
        """After how many changes it was in that state: the most, if two numbers lead to the same state."""
        states = self.states()
        return next((count for count in range(len(states) - 1, -1, -1) if states[count] == seen), None)

    def lost(self, count: int, end: float) -> float:
        """How many seconds before `end` the first change beyond that many was answered; 0 if none was."""
        return end - self.answered[count] if count < len(self.answered) else 0.0

    def begin_anew(self, seen) -> None:
        """From now on, that state is the known one."""
        self.base, self.changes, self.answered = seen, [], []
