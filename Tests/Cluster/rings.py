"""Where sandboxes go: buckets of the folder, and replicas under two ways of hashing."""

import bisect
import random
from collections import Counter

RING = 1 << 32
MASK = (1 << 64) - 1
# Of FNV-1a, by which the folder's `bucket` is found.
BEGIN, PRIME = 0xCBF29CE484222325, 0x100000001B3


# MARK: Buckets

def numbered(prefix: str, digits: int) -> Counter:
    """How many names of prefix and number, such as box-0 to box-9999999, are in each bucket.

    Hashes of longer names continue those of their beginnings, so ten million of them take seconds.
    """
    state = BEGIN
    for byte in prefix.encode():
        state = (state ^ byte) * PRIME & MASK
    counts: Counter = Counter()
    states = [(state ^ digit) * PRIME & MASK for digit in range(ord("1"), ord("9") + 1)]
    for _ in range(digits - 1):
        counts.update(state >> 52 for state in states)
        states = [(state ^ digit) * PRIME & MASK for state in states for digit in range(ord("0"), ord("9") + 1)]
    counts.update(state >> 52 for state in states)
    return counts


# MARK: Replicas

class Ring:
    """A consistent ring as HAProxy's: each replica at so many places."""

    def __init__(self, replicas: int, nodes: int, seed: int):
        dice = random.Random(seed)
        self.points = sorted((dice.randrange(RING), replica) for replica in range(replicas) for _ in range(nodes))

    def shares(self) -> Counter:
        """What part of all sandboxes each replica has."""
        shares: Counter = Counter()
        previous = self.points[-1][0] - RING
        for point, replica in self.points:
            shares[replica] += (point - previous) / RING
            previous = point
        return shares

    def gains_without(self, gone: int) -> Counter:
        """What part of all sandboxes goes where when that replica goes."""
        rest = [(point, replica) for point, replica in self.points if replica != gone]
        positions = [point for point, _ in rest]
        gains: Counter = Counter()
        previous = self.points[-1][0] - RING
        for point, replica in self.points:
            if replica == gone:
                next_one = rest[bisect.bisect(positions, point) % len(rest)][1]
                gains[next_one] += (point - previous) / RING
            previous = point
        return gains


class Rendezvous:
    """Highest random weight: each sandbox chooses on its own among all replicas that are there."""

    def __init__(self, replicas: int, sandboxes: int, seed: int):
        self.replicas, self.sandboxes, self.dice = replicas, sandboxes, random.Random(seed)

    def shares(self) -> Counter:
        return self._chosen(1.0, range(self.replicas))

    def gains_without(self, gone: int) -> Counter:
        return self._chosen(1 / self.replicas, [replica for replica in range(self.replicas) if replica != gone])

    def _chosen(self, part: float, replicas) -> Counter:
        """How that part of all sandboxes is spread by so many choices."""
        mean = part * self.sandboxes / len(replicas)
        return Counter({replica: max(0.0, self.dice.gauss(mean, mean ** 0.5)) / self.sandboxes for replica in replicas})
