"""Who searches what: scenarios are dealt to worker sets, and time is cut into slices, by the seed alone."""
import dataclasses
import hashlib
import random


def _count(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


@dataclasses.dataclass(frozen=True)
class Shard:
    """What one worker set searches, slice after slice, on whatever node it is at the time."""

    index: int
    scenarios: tuple  # names, sorted


@dataclasses.dataclass(frozen=True)
class Plan:
    seed: int
    shards: tuple
    slices: tuple  # seconds of each round

    def engine_seed(self, shard, number):
        """Of `dsafuzz fuzz` in the shard's number-th slice: another one each time, the same for the same plan."""
        digest = hashlib.sha256(f"{self.seed} {shard.index} {number}".encode()).digest()
        return int.from_bytes(digest[:6], "big")

    def text(self):
        rounds = f"{_count(len(self.slices), 'slice')} of {self.slices[0]:g} s"
        if len(set(self.slices)) > 1:
            rounds += f", the last of {self.slices[-1]:g} s"
        lines = [f"plan of seed {self.seed}: {_count(len(self.shards), 'worker set')}, {rounds}"]
        lines += [f"  set {shard.index}: {' '.join(shard.scenarios)}" for shard in self.shards]
        return "\n".join(lines)


def slices_of(seconds, slice_seconds):
    """Slices that add up to `seconds`; what is left is a slice of its own, unless it is too short to be worth one."""
    whole, rest = divmod(seconds, slice_seconds)
    slices = [slice_seconds] * int(whole)
    if rest >= min(5.0, slice_seconds / 2) or not slices:
        slices.append(rest)
    else:
        slices[-1] += rest
    return tuple(slices)


def make_plan(scenarios, sets, seconds, slice_seconds, seed):
    """Each scenario goes to at least one of `sets` worker sets, and each set has at least one.

    With more scenarios than sets a set has several; with fewer, several sets search the same one, with other seeds.
    """
    order = sorted(scenarios)
    random.Random(seed).shuffle(order)
    dealt = [[] for _ in range(sets)]
    for turn in range(max(sets, len(order))):
        dealt[turn % sets].append(order[turn % len(order)])
    shards = tuple(Shard(index, tuple(sorted(names))) for index, names in enumerate(dealt))
    return Plan(seed, shards, slices_of(seconds, slice_seconds))
