"""Hands slices to Ray, which places them; keeps what comes back; gives a lost slice to another node.

A slice's worker set is one task that holds one GPU, or two CPUs. Ray itself retries nothing: what was lost is seen
here, said, and ordered again.
"""
import dataclasses
import time

from . import bundle, campaign_folder, worker_set

MOST_TRIES = 5  # of one slice
_NODES_FOR = 2.0  # seconds that a list of nodes is good for; asking takes time where there are hundreds
_DEVICES = {"cuda": {"num_gpus": 1, "num_cpus": 1}}
_CPU_PAIR = {"num_cpus": 2}


def needs_of(device):
    """Ray's resources of one worker set."""
    return _DEVICES.get(device.split(":")[0], _CPU_PAIR)


def sets_in(resources, device):
    """How many worker sets fit into resources as Ray states them: {"CPU": 8.0, "GPU": 1.0, ...}."""
    needs = needs_of(device)
    fit = [resources.get("CPU", 0) // needs["num_cpus"]]
    if "num_gpus" in needs:
        fit.append(resources.get("GPU", 0) // needs["num_gpus"])
    return int(min(fit))


def _parts_of(files, most=bundle.MOST_FILES // 4, size=bundle.BUNDLE_LIMIT // 4):
    """The files in parts that fit into a bundle each; what belongs to one finding stays together."""
    parts, total, last = [{}], 0, None
    for path, data in files.items():
        group = campaign_folder.group_of(path)
        if group != last and (len(parts[-1]) >= most or total >= size):
            parts.append({})
            total = 0
        parts[-1][path] = data
        total, last = total + len(data), group
    return parts


@dataclasses.dataclass
class Turn:
    """A shard's place in its work."""

    shard: object
    number: int = 0
    tries: int = 0
    node: str = ""  # where its folder lies
    handed: dict = dataclasses.field(default_factory=dict)  # {node: {key: offers that its folder there has}}
    expected: str = ""  # the node that the running slice's offers are meant for; "": any
    upto: dict = dataclasses.field(default_factory=dict)  # {key: offers that it has once this slice has ended}


@dataclasses.dataclass
class Result:
    executions: int = 0
    slices: int = 0
    lost: int = 0
    given_up: list = dataclasses.field(default_factory=list)
    bytes_taken: int = 0
    bytes_fetched: int = 0
    seconds: float = 0.0
    interrupted: bool = False


class Driver:
    def __init__(self, ray, plan, order, scenarios, exchange, collector, say, stop=lambda: False):
        """`order` is what all slices have in common (worker_set.run_slice); `scenarios` are {name: bytes}."""
        self._ray, self._plan, self._order, self._scenarios = ray, plan, order, scenarios
        self._exchange, self._collector, self._say, self._stop = exchange, collector, say, stop
        self._offers = {name: [] for name in ("", *scenarios)}
        self._offered = 0
        self._running = {}  # Ray's reference -> Turn
        self._nodes, self._nodes_at = {}, float("-inf")
        self._result = Result()
        ray.cloudpickle.register_pickle_by_value(__import__("sys").modules[__package__])

        def slice_of_work(order, offers, exchange):
            return worker_set.run_slice(order, offers, exchange, ray.get_runtime_context().get_node_id())

        self._task = ray.remote(max_retries=0, **needs_of(order["device"]))(slice_of_work)

    def run(self):
        began = time.monotonic()
        self._offer(self._collector.start_files(self._scenarios), "")
        for shard in self._plan.shards:
            self._start(Turn(shard))
        while self._running:
            ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=1.0)
            for reference in ready:
                self._ended(self._running.pop(reference), reference)
        self._sweep()
        self._result.seconds = time.monotonic() - began
        return self._result

    def _offer(self, news, source):
        for key, files in sorted(news.items()):
            for part in _parts_of(files):
                self._offered += 1
                name = f"o{self._offered:07d}-{key}"[:200]
                reference = self._exchange.offer(name, bundle.pack({}, part))
                self._offers[key].append((name, source, reference))

    def _start(self, turn):
        if turn.number >= len(self._plan.slices):
            return
        if self._stop():
            self._result.interrupted = True
            return
        shard = turn.shard
        order = {**self._order, "shard": shard.index, "number": turn.number,
                 "seconds": self._plan.slices[turn.number],
                 "seed": self._plan.engine_seed(shard, turn.number),
                 "scenarios": {name: self._scenarios[name] for name in shard.scenarios},
                 "tries": turn.tries, "stored": self._collector.stored(shard.index)}
        room = self._has_room(turn)
        turn.expected = turn.node if room else ""
        has = turn.handed.get(turn.expected, {})
        keys = ("", *shard.scenarios)
        turn.upto = {key: len(self._offers[key]) for key in keys}
        offers = [offer for key in keys for offer in self._offers[key][has.get(key, 0):]]
        task = self._task.options(**self._placement(turn.expected))
        self._running[task.remote(order, offers, self._exchange)] = turn

    def _has_room(self, turn):
        """Whether the node where its folder lies is there and takes one more worker set."""
        if time.monotonic() - self._nodes_at > _NODES_FOR:
            self._nodes = {node["NodeID"]: node["Resources"] for node in self._ray.nodes() if node["Alive"]}
            self._nodes_at = time.monotonic()
        there = sum(1 for other in self._running.values() if other.node == turn.node)
        return there < sets_in(self._nodes.get(turn.node, {}), self._order["device"])

    def _placement(self, node):
        """Of a task: on this node as long as it lives; wherever Ray likes, if none is named."""
        if not node:
            return {"scheduling_strategy": "SPREAD"}
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return {"scheduling_strategy": NodeAffinitySchedulingStrategy(node_id=node, soft=True)}

    def _ended(self, turn, reference):
        what = f"set {turn.shard.index}, slice {turn.number + 1} of {len(self._plan.slices)}"
        try:
            data = self._exchange.take(self._ray.get(reference))
        except (self._ray.exceptions.RayError, OSError, bundle.BadBundle) as error:
            self._result.lost += 1
            why = str(getattr(error, "cause", "")).split("\n")[0][:500]  # what the task itself raised
            return self._again(turn, what, f"lost ({type(error).__name__}{': ' if why else ''}{why})")
        try:
            facts, findings = self._keep(data)  # a disk of ours that is full ends the run
        except bundle.BadBundle as error:
            return self._again(turn, what, f"what it gave is refused: {error}")
        turn.node = facts["node"]
        if turn.expected in ("", turn.node):  # else it has got only what another node's folder lacked
            turn.handed[turn.node] = turn.upto
        if facts["problem"]:
            return self._again(turn, what, facts["problem"])
        self._say(f"{what}: {facts['executions']} executions on node {facts['node'][:8]}, {findings}"
                  + (f"; {facts['problems']}" if facts["problems"] else ""))
        turn.number, turn.tries = turn.number + 1, 0
        return self._start(turn)

    def _keep(self, data):
        facts, news = self._collector.keep(data, self._scenarios)
        self._offer(news, facts["instance"])
        self._result.executions += facts["executions"]
        self._result.slices += 1
        self._result.bytes_taken += len(data)
        self._result.bytes_fetched += facts["fetched_bytes"]
        cases = sum(len(files) for key, files in news.items() if key)
        findings = len({path.split("/")[1] for path in news.get("", {}) if path.startswith("findings/")})
        return facts, f"{cases} new cases, {findings} new findings"

    def _again(self, turn, what, why):
        turn.tries += 1
        if turn.tries >= MOST_TRIES:
            self._say(f"{what}: {why}; given up after {turn.tries} tries")
            self._result.given_up.append(f"{what}: {why}")
            return None
        self._say(f"{what}: {why}; it is given to a node again")
        turn.node = ""
        self._nodes_at = float("-inf")
        return self._start(turn)

    def _sweep(self):
        """What lies in the shared folder, though no answer came of it. All of it once more does no harm."""
        for answer in self._exchange.left():
            try:
                self._collector.keep(self._exchange.take(answer), self._scenarios)
            except (bundle.BadBundle, OSError) as error:
                self._say(f"{answer.decode()}: refused: {error}")
