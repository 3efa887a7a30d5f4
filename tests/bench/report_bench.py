"""How long the report takes for a large campaign: 100,000 cases, 1,000 findings, 60 runs with their samples.

  python3 tests/bench/report_bench.py [--cases N] [--findings N] [--runs N] [--keep FOLDER]

Prints what building the page takes (wall time of scripts/report, in turns), its size besides Plotly's library, and what
Chromium takes from the start of loading to the load event, and to the moment when filters and details work.
"""
import argparse
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "scripts"))
from campaign_store import CampaignStore  # noqa: E402

VERDICTS = ["device_assert"] * 6 + ["memory_fault", "silent", "wrong_result", "hang"]
OPS = ["cross_entropy_loss", "nll_loss2d", "embedding", "gather", "scatter", "index_select", "index_put", "multinomial",
       "binary_cross_entropy", "max_unpool2d", "embedding_bag", "repeat_interleave", "bernoulli", "segment_reduce"]
TITLES = ["class label not compared with the number of classes", "index not compared with the size of its dimension",
          "probability not compared with 0 and 1", "offset not compared with the number of indices"]


def python_reproducer(name, op, values):
    return f"""# device_assert: {name}
import sys
import torch

device = sys.argv[1] if len(sys.argv) > 1 else "cuda"
try:
    if device.startswith("vcuda"):
        import dsafuzz_vcuda  # noqa: F401
    labels = torch.tensor({values}, device=device)
    logits = torch.zeros(({len(values)}, 3), device=device)
except Exception as error:
    print(f"cannot run on {{device}}: {{' '.join(str(error).split())}}")
    sys.exit(125)
try:
    loss = torch.ops.aten.{op}(logits, labels)
    if device != "cpu":
        getattr(torch, device.split(":")[0]).synchronize(device)
    result = "returned"
except Exception as error:
    result = f"{{type(error).__name__}}: {{error}}".splitlines()[0]
shows = "device-side assert triggered" in result
print(f"{{device}}: {{result}}\\nthe bug {{'shows' if shows else 'does not show'}}")
sys.exit(1 if shows else 0)
"""


def make_findings(store, count, random_):
    names = []
    for i in range(count):
        verdict, op = random_.choice(VERDICTS), random_.choice(OPS)
        name = f"{verdict}-{random_.getrandbits(64):016x}"
        values = [random_.randrange(-100, 100) for _ in range(random_.randrange(1, 9))]
        kernel = f"{op}_kernel_{random_.getrandbits(16):04x}"
        signature = {"verdict": verdict, "op": f"aten::{op}", "file": f"aten/src/ATen/native/cuda/{op.title()}.cu",
                     "kernel": kernel, "condition": f"t >= 0 && t < size_{i % 37}",
                     "text": f"{op.title()}.cu {kernel} `t >= 0 && t < size_{i % 37}`"}
        scenario = f"{op}_{i % 5}"
        place = store.folder(name, signature=signature, scenario=scenario, cause=f"labels[{i % 7}] is {values[0]}, but {op} "
                             f"needs values that lie in [0, {i % 37}).", **{"class": {"title": TITLES[i % 4]}},
                             case=f"case: {scenario}\nseed: {i}\nshapes: {{batch: {len(values)}}}\ntensors:\n  labels: "
                             f"{{shape: [batch], dtype: int64, fill: {values}}}\nsteps:\n  - loss = aten::{op}(x, labels)\n")
        (place / "repro.py").write_text(python_reproducer(kernel, op, values), encoding="utf-8")
        # About as long as those that are emitted.
        (place / "repro.cpp").write_text("".join(f"// {line} {kernel if line % 9 == 0 else ''}\n#include <ATen/ATen.h>\n"
                                                 for line in range(45)), encoding="utf-8")
        names.append((name, signature, scenario))
    return names


def make_store(out, cases, findings, runs, seed=1):
    random_ = random.Random(seed)
    store = CampaignStore(out)
    names = make_findings(store, findings, random_)
    ids = []
    for number in range(runs):
        day = f"2026-{10 + number // 30:02d}-{number % 30 + 1:02d}"
        run = store.run(f"{day}T01:00:00Z", f"{day}T04:12:00Z", executions=random_.randrange(8, 14) * 10 ** 6,
                        features=9000 + number * 120)
        ids.append(run)
        for at in range(0, 11_500, 23):
            store.sample(run, at, executions=at * 1000 + random_.randrange(900), features=int(9000 * at / (at + 900)),
                         findings=at // 700)
        store.insert("run_devices", run=run, device="vcuda", executions=10 ** 7, seconds=11_500.0, findings=3)
        store.insert("run_versions", run=run, name="torch", version="2.11.0")
        met = names[:len(names) * (number + 1) // runs]
        before = len(names) * number // runs
        for i, (name, signature, scenario) in enumerate(met):
            state = "new" if i >= before else "gone" if i % 211 == number % 211 else "known"
            store.met(run, name, state, signature, scenario=scenario, elements=i % 9)
        for i in range(91):
            status = "differs" if i == number % 91 and number % 7 == 3 else "skipped" if i < 5 else "as_expected"
            store.insert("regressions", run=run, name=f"report_{i}", device="vcuda", status=status, expected="device_assert",
                         seen="ok" if status == "differs" else "device_assert", text="")
    for i in range(68):
        store.insert("sites", run=ids[-1], source=f"aten/src/ATen/native/cuda/{OPS[i % 11].title()}.cu:{40 + i}",
                     function=f"kernel_{i}", condition=f"t >= 0 && t < {i}", rows=f"U{i:02d}", reached=int(i % 17 != 0),
                     triggered=int(i % 6 != 0), scenarios=f"{OPS[i % 11]}_0")
    for i in range(890):
        agreement = ["acceptance_differs", "manner_differs", "agrees", "agrees"][min(i // 60, 3)]
        store.insert("parity", run=ids[-1], id=f"U{i % 116:02d}/v{i}", op=f"aten::{OPS[i % 14]}", source=f"Loss.cu:{i}",
                     condition="t >= 0 && t < n_classes", agreement=agreement, matches_catalogue=1, position=i)
        for device, verdict in (("cpu", "host_reject"), ("vcuda", "device_assert")):
            store.insert("parity_cells", run=ids[-1], id=f"U{i % 116:02d}/v{i}", device=device, verdict=verdict,
                         signature=f"Loss.cu kernel_{i} `t >= 0 && t < n_classes`")
    store.close()
    for scenario in range(70):
        folder = pathlib.Path(out) / "corpus" / f"scenario_{scenario}"
        folder.mkdir(parents=True)
        for case in range(scenario, cases, 70):
            (folder / f"{case:016x}").touch()


def load_times(page, turns=5):
    """Seconds to the load event and until the page is ready, in Chromium; None where there is none."""
    try:
        from chromium_page import ChromiumPage
        browser = ChromiumPage()
    except Exception as error:  # noqa: BLE001 - whatever is missing, the other figures stand
        print(f"no load times: {error}", file=sys.stderr)
        return None
    times = []
    with browser:
        for _ in range(turns):
            start = time.monotonic()
            browser.open(page)
            times.append((browser.load_seconds(), time.monotonic() - start))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--findings", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--keep", help="make the store here, or use the one that is here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        out = pathlib.Path(options.keep or temporary) / "out"
        if not out.exists():
            make_store(out, options.cases, options.findings, options.runs)
        page = out.parent / "report.html"
        built = []
        for _ in range(options.turns):
            start = time.monotonic()
            subprocess.run([sys.executable, ROOT / "scripts" / "report", out, "--html", page], check=True)
            built.append(time.monotonic() - start)
        import plotly
        library = (pathlib.Path(plotly.__file__).parent / "package_data" / "plotly.min.js").stat().st_size
        print(f"{options.cases:,} cases, {options.findings:,} findings, {options.runs} runs")
        print(f"build: {statistics.median(built):.2f} s ({min(built):.2f} to {max(built):.2f})")
        print(f"page: {(page.stat().st_size - library) / 1e6:.2f} MB and {library / 1e6:.2f} MB of Plotly")
        if times := load_times(page, options.turns):
            for name, which in (("load event", 0), ("ready, seen from outside", 1)):
                values = [pair[which] for pair in times]
                print(f"{name}: {statistics.median(values):.2f} s ({min(values):.2f} to {max(values):.2f})")


if __name__ == "__main__":
    main()
