"""How long a storm of takeovers lasts: many replicas claim sandboxes in one shared file system."""

import heapq
from dataclasses import dataclass


@dataclass
class Storm:
    """Seconds after the storm began."""

    half: float
    most: float
    last: float


def storm(claims: list[int], threads: int, own: float, shared: float) -> Storm:
    """Each replica has so many sandboxes to take over, and takes `threads` at a time.

    A claim first takes the replica `own` seconds, then the file system `shared` seconds; the file system does one after
    the other, in the order in which they come.
    """
    waiting = [count for count in claims if count]
    events: list[tuple[float, int]] = []
    for replica, count in enumerate(waiting):
        for _ in range(min(threads, count)):
            events.append((own, replica))
        waiting[replica] = max(0, count - threads)
    heapq.heapify(events)
    free, ends = 0.0, []
    while events:
        moment, replica = heapq.heappop(events)
        free = max(moment, free) + shared
        ends.append(free)
        if waiting[replica]:
            waiting[replica] -= 1
            heapq.heappush(events, (free + own, replica))
    if not ends:
        return Storm(0, 0, 0)
    return Storm(ends[len(ends) // 2], ends[int(len(ends) * 0.99)], ends[-1])
