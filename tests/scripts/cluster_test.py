"""scripts/cluster without Ray: what goes between machines and what is refused, plans, the driver's disk.
Usage: cluster_test.py ROOT
"""
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import zlib

sys.dont_write_bytecode = True
ROOT = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(ROOT / "scripts"))
from dsafuzz_cluster import bundle, campaign_folder, collector, command, driver, exchange, plan  # noqa: E402

STUB = pathlib.Path(__file__).with_name("cluster_stub.py")
CASE = "corpus/one/0123456789abcdef"
FINDING = "findings/device_assert-0123456789abcdef"
FILES = {CASE: b"c", f"{FINDING}/finding.json": b"{}", f"{FINDING}/repro.py": b"p" * 5000, "answered/silent-1": b"",
         "candidates/crash-1-2/case.cbor": b"x", "campaign.db": b"SQLite"}
FACTS = {"executions": 5, "shard": 3, "number": 0, "seconds": 1.5, "ran_seconds": 1.0, "took_in_seconds": 0.1,
         "fetched_bytes": 0, "instance": "s03-0a1b2c3d", "node": "0a1b2c3d4e", "problem": "", "problems": ""}


def forged(index, contents=b"", magic=bundle.MAGIC):
    """A bundle as another program could write it."""
    packed = zlib.compress(index if isinstance(index, bytes) else json.dumps(index).encode())
    return magic + len(packed).to_bytes(8, "big") + packed + zlib.compress(contents)


class Folders(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dsafuzz-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def files(self, folder):
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Bundle(unittest.TestCase):
    def test_comes_back_as_it_was(self):
        self.assertEqual(bundle.unpack(bundle.pack(FACTS, FILES)), (FACTS, FILES))
        self.assertEqual(bundle.pack({}, FILES), bundle.pack({}, dict(reversed(FILES.items()))), "the same bytes")

    def test_what_no_output_folder_holds_is_refused(self):
        for path in ("../x", "/etc/passwd", "corpus/../../x", "corpus/one/0123456789abcdeF", "corpus/One/0123456789abcdef",
                     "corpus/one/0123456789abcdef/x", "corpus/one/.new", "findings/a/../b", "findings/a/..", "findings/a",
                     "findings/a/.hidden", "findings/A/x", "findings/a/b/c", "findings/a/b\n", "candidates/a/run.sh",
                     "campaign.db-wal", "campaign.db\n", "lock", "", "findings/a/b\0c", 7, None, ["corpus"]):
            with self.subTest(path):
                with self.assertRaises(bundle.BadBundle):
                    bundle.unpack(forged({"facts": {}, "files": [[path, 0]]}))
        with self.assertRaises(bundle.BadBundle):
            bundle.pack({}, {"../x": b""})

    def test_forged_and_damaged_bytes_are_refused(self):
        good = bundle.pack(FACTS, FILES)
        empty = {"facts": {}, "files": []}
        rows = {
            "nothing": b"", "another format": forged(empty, magic=b"dsafuzz-bundle 2\n"), "no bytes": "text",
            "cut": good[:-1], "cut in the index": good[:30], "no JSON": forged(b"\xff"), "a list": forged([]),
            "no files": forged({"facts": {}}), "deep": forged(b"[" * 100_000),
            "a negative size": forged({"facts": {}, "files": [[CASE, -1]]}),
            "a true size": forged({"facts": {}, "files": [[CASE, True]]}, b"x"),
            "more than it says": forged({"facts": {}, "files": [[CASE, 1]]}, b"xx"),
            "less than it says": forged({"facts": {}, "files": [[CASE, 3]]}, b"xx"),
            "a large case": forged({"facts": {}, "files": [[CASE, (1 << 20) + 1]]}),
            "too much": forged({"facts": {}, "files": [[f"findings/a{i}/x", 64 << 20] for i in range(9)]}),
            "twice": forged({"facts": {}, "files": [[CASE, 0], [CASE, 0]]}),
            "a fact that is a list": forged({"facts": {"a": []}, "files": []}),
            "a bomb": forged(empty, b"\0" * (64 << 20)), "a pickle": b"\x80\x04\x95" + good,
        }
        for name, data in rows.items():
            with self.subTest(name):
                with self.assertRaises(bundle.BadBundle):
                    bundle.unpack(data)
        for at in range(0, len(good), 7):  # any damage is seen, or does no harm
            try:
                facts, files = bundle.unpack(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
            except bundle.BadBundle:
                continue
            self.assertTrue(all(bundle.size_limit(path) for path in files))


class Plan(unittest.TestCase):
    def test_the_seed_alone_decides(self):
        names = [f"s{i}" for i in range(7)]
        first = plan.make_plan(names, 3, 150, 60, 5)
        self.assertEqual(first, plan.make_plan(list(reversed(names)), 3, 150, 60, 5))
        self.assertNotEqual(first.shards, plan.make_plan(names, 3, 150, 60, 6).shards)
        self.assertEqual(first.slices, (60, 60, 30))
        seeds = {first.engine_seed(shard, i) for shard in first.shards for i in range(50)}
        self.assertEqual(len(seeds), 150, "no two slices have one seed")

    def test_every_scenario_and_every_set_has_work(self):
        for scenarios, sets in ((1, 1), (7, 3), (3, 7), (5, 5), (1, 9)):
            with self.subTest(f"{scenarios} scenarios, {sets} sets"):
                made = plan.make_plan([f"s{i}" for i in range(scenarios)], sets, 10, 10, 1)
                dealt = [len(shard.scenarios) for shard in made.shards]
                self.assertEqual(len(dealt), sets)
                self.assertLessEqual(max(dealt) - min(dealt), 1)
                self.assertEqual(len({n for shard in made.shards for n in shard.scenarios}), scenarios)

    def test_slices_add_up(self):
        for seconds, length in ((10, 60), (60, 60), (61, 60), (150, 60), (3, 1), (1.5, 1), (1e6, 60)):
            self.assertAlmostEqual(sum(plan.slices_of(seconds, length)), seconds)

    def test_sets_are_what_fits(self):
        for resources, device, sets in (({"CPU": 8.0}, "vcuda", 4), ({"CPU": 3.0}, "vcuda", 1), ({}, "vcuda", 0),
                                        ({"CPU": 8.0, "GPU": 2.0}, "cuda:0", 2), ({"CPU": 1.0, "GPU": 4.0}, "cuda:0", 1),
                                        ({"CPU": 8.0}, "cuda:0", 0)):
            self.assertEqual(driver.sets_in(resources, device), sets, (resources, device))


class CampaignFolder(Folders):
    def test_written_files_are_new_until_they_are_known(self):
        out = self.folder / "out"
        campaign_folder.write_files(out, {**FILES, CASE: b"first"})
        campaign_folder.write_files(out, {CASE: b"second", f"{FINDING}/finding.json": b"other"})
        self.assertEqual((out / CASE).read_bytes(), b"first", "what is there stays")
        self.assertEqual((out / FINDING / "finding.json").read_bytes(), b"{}")
        (out / "campaign.db").unlink()
        files, left_out = campaign_folder.new_files(out, set())
        self.assertEqual((sorted(files), left_out), (sorted(set(FILES) - {"campaign.db"}), []))
        groups = {campaign_folder.group_of(path) for path in files}
        self.assertEqual(campaign_folder.new_files(out, groups), ({}, []))
        self.assertEqual(list(campaign_folder.new_files(out, groups - {CASE})[0]), [CASE])

    def test_links_and_hidden_files_are_nobodys(self):
        out = self.folder / "out"
        campaign_folder.write_files(out, {CASE: b"c"})
        (out / "corpus" / ".new-one-0").mkdir()
        (out / "corpus" / ".new-one-0" / "0123456789abcdee").write_bytes(b"unfinished")
        os.symlink("/etc/passwd", out / "corpus" / "one" / "0123456789abcdea")
        os.symlink("/etc", out / "findings" / "device_assert-1")
        os.mkfifo(out / "corpus" / "one" / "0123456789abcdeb")
        self.assertEqual(campaign_folder.new_files(out, set()), ({CASE: b"c"}, []))

    def test_a_bundle_has_room_for_findings_first_and_whole(self):
        out = self.folder / "out"
        campaign_folder.write_files(out, {**{f"corpus/one/{i:016x}": b"c" * 100 for i in range(9)}, **FILES})
        files, left_out = campaign_folder.new_files(out, set(), limit=5300)
        self.assertIn(f"{FINDING}/repro.py", files)
        self.assertIn(f"{FINDING}/finding.json", files)
        self.assertLess(sum(map(len, files.values())), 5300)
        self.assertEqual(left_out, ["there is more than goes into one bundle; the rest follows"])

    def test_a_database_in_use_is_sent_with_its_log(self):
        (self.folder / "out").mkdir()
        connection = sqlite3.connect(self.folder / "out" / "campaign.db")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE run (id)")
        connection.execute("INSERT INTO run VALUES (7)")
        connection.commit()
        files, _ = campaign_folder.new_files(self.folder / "out", set())
        connection.close()
        (self.folder / "copy.db").write_bytes(files["campaign.db"])
        self.assertEqual(sqlite3.connect(self.folder / "copy.db").execute("SELECT id FROM run").fetchall(), [(7,)])


class Collector(Folders):
    def open(self):
        keeper = collector.Collector(self.folder / "out")
        self.addCleanup(keeper.close)
        return keeper

    def test_what_is_kept_is_on_the_disk_and_news_once(self):
        keeper = self.open()
        data = bundle.pack(FACTS, {**FILES, "corpus/two/0123456789abcdef": b"not searched here"})
        facts, news = keeper.keep(data, {"one"})
        self.assertEqual(facts, FACTS)
        self.assertEqual(sorted(news), ["", "one"])
        self.assertEqual(news["one"], {CASE: b"c"})
        self.assertNotIn("candidates/crash-1-2/case.cbor", news[""], "a candidate is examined where it was met")
        self.assertEqual(self.files(keeper.parts_folder / "s03-0a1b2c3d")[CASE], b"c")
        self.assertEqual(keeper.keep(data, {"one"})[1], {}, "a second time it is no news")
        self.assertEqual(len((keeper.folder / "slices.jsonl").read_text().splitlines()), 1)
        self.assertEqual((keeper.stored(3), keeper.stored(4)), ({"s03-0a1b2c3d": [0]}, {}))
        self.assertEqual(keeper.finding_count(), 1)

    def test_facts_of_another_form_are_refused(self):
        keeper = self.open()
        for name, value in (("instance", "../../x"), ("instance", "s3"), ("executions", "many"), ("problem", 3),
                            ("node", None)):
            facts = {k: v for k, v in {**FACTS, name: value}.items() if v is not None}
            with self.assertRaises(bundle.BadBundle):
                keeper.keep(bundle.pack(facts, FILES), {"one"})
        self.assertEqual(keeper.parts(), [])

    def test_one_driver_a_folder(self):
        self.open()
        with self.assertRaises(collector.Busy):
            collector.Collector(self.folder / "out")

    def test_the_next_run_merges_what_a_killed_one_left(self):
        """In its parts, and in its shared folder: the driver died between a node's answer and its own writing."""
        stub = shutil.copy(STUB, self.folder / "stub")
        shared = exchange.SharedFolder(self.folder / "shared" / "r")
        shared.give("s04-0a1b2c3d-r00000", bundle.pack({**FACTS, "shard": 4, "instance": "s04-0a1b2c3d"},
                                                       {"findings/crash-2/finding.json": b"{}"}))
        shared.give("s05-0a1b2c3d-r00000", b"rubbish")
        keeper = self.open()
        keeper.begin({"run": "r", "shared": str(self.folder / "shared" / "r")})
        keeper.keep(bundle.pack(FACTS, FILES), {"one"})
        keeper.close()
        arguments = command.parser().parse_args(["x.yaml", "--out", str(self.folder / "out"), "--program", str(stub)])
        keeper = self.open()
        command._recover(arguments, keeper)
        self.assertEqual(sorted(path.name for path in (self.folder / "out" / "findings").iterdir()),
                         ["crash-2", "device_assert-0123456789abcdef"])
        self.assertEqual((keeper.parts(), keeper.unfinished()), ([], None))
        self.assertEqual(list((self.folder / "shared").iterdir()), [], "all of it is in OUT")
        # Where merging fails, everything stays for the run after it.
        keeper.keep(bundle.pack({**FACTS, "number": 1}, {"findings/crash-3/finding.json": b"{}"}), {"one"})
        arguments.program = "/bin/false-indeed"
        with self.assertRaises(OSError):
            command._recover(arguments, keeper)
        self.assertEqual(len(keeper.parts()), 1)


class SharedFolder(Folders):
    def test_names_lead_nowhere(self):
        shared = exchange.SharedFolder(self.folder / "shared")
        shared.give("s00-0a1b2c3d-r00000", b"x")
        (self.folder / "secret.bundle").write_bytes(b"secret")
        os.symlink(self.folder / "secret.bundle", self.folder / "shared" / "given" / "link.bundle")
        for answer in (b"../../secret", b"/etc/passwd", b"", b"\xff", b"x\0"):
            with self.assertRaises(bundle.BadBundle):
                shared.take(answer)
        with self.assertRaises(OSError):
            shared.take(b"link")
        self.assertEqual(shared.take(b"s00-0a1b2c3d-r00000"), b"x")


class CommandLine(Folders):
    def cluster(self, *words, code):
        stub = shutil.copy(STUB, self.folder / "stub")
        ended = subprocess.run([ROOT / "scripts" / "cluster", *words, "--program", stub, "--out", self.folder / "out"],
                               capture_output=True, text=True, check=False, cwd=self.folder,
                               env={**os.environ, "DSAFUZZ_PYTHON": sys.executable})
        self.assertEqual(ended.returncode, code, ended.stderr)
        return ended

    def test_a_dry_run_prints_the_plan_and_writes_nothing(self):
        for name in ("one", "two", "three"):
            (self.folder / f"{name}.yaml").write_text(f"# a comment\nscenario: {name}\n")
        words = ("one.yaml", "two.yaml", "three.yaml", "--dry-run", "--sets", "2", "--seconds", "100", "--seed", "4")
        first = self.cluster(*words, code=0)
        self.assertEqual(first.stdout, self.cluster(*words, code=0).stdout)
        self.assertRegex(first.stdout, r"^plan of seed 4: 2 worker sets, 2 slices of 60 s, the last of 40 s\n  set 0: ")
        self.assertFalse((self.folder / "out").exists())

    def test_what_cannot_be_used_is_said_in_a_line(self):
        (self.folder / "one.yaml").write_text("scenario: one\n")
        (self.folder / "again.yaml").write_text("scenario: one\n")
        (self.folder / "case.yaml").write_text("case: one\n")
        for words, says in ((("one.yaml", "again.yaml"), "given twice"), (("case.yaml",), "is a case"),
                            (("one.yaml", "--device", "cuda:1"), "--device"), (("gone.yaml",), "gone.yaml")):
            ended = self.cluster(*words, "--sets", "1", code=3 if says == "gone.yaml" else 2)
            self.assertIn(says, ended.stderr)
            self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
        for words in (("one.yaml", "--seconds", "0"), ("one.yaml", "--sets", "x"), ()):
            self.cluster(*words, code=2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
