"""`dsafuzz matrix` and `dsafuzz coverage` over the catalogue shipped: each answer against the catalogue's own words."""
import csv

import program

CATALOGUE = program.ROOT / "corpus" / "catalogue" / "device_asserts.tsv"


def catalogue():
    with open(CATALOGUE, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["id"]: row for row in rows if row["expected"] in ("device_assert", "silent", "host_reject")}


class MatrixTest(program.ProgramTest):
    def test_every_row_answers_as_the_catalogue_says(self):
        wanted = catalogue()
        ended = self.run_program("matrix", "--json", "--no-variants", deadline=180)
        rows = {row["id"]: row for row in ended.json()}
        self.assertEqual(sorted(rows), sorted(wanted))
        for name, row in rows.items():
            if row["agreement"] == "not_run":
                self.assertNotEqual(wanted[name]["exception"], "", name)
                continue
            with self.subTest(row=name):
                self.assertEqual(row["vcuda"]["verdict"], wanted[name]["expected"], row)
                self.assertIs(row["matches_catalogue"], True)
                self.assertIn("verdict", row["cpu"])
                if wanted[name]["expected"] == "device_assert":
                    source = wanted[name]["source"].rsplit("/", 1)[1]
                    self.assertEqual(row["vcuda"]["site"], source)
                    self.assertIn(source.split(":")[0], row["vcuda"]["signature"])
                    self.assertIn(wanted[name]["condition"], row["vcuda"]["signature"])

    def test_variants_of_one_operator_as_text_and_page(self):
        text = self.run_program("matrix", "U27").out
        self.assertIn("device_assert: 1 of 1 rows as in the catalogue", text)
        page = self.folder / "matrix.html"
        self.run_program("matrix", "U27", "--html", "--out", page)
        html = page.read_text(encoding="utf-8")
        self.assertIn('id="words"', html)
        for word in ("U27/float16", "U27/autocast_bfloat16", "Loss.cu:201", "device_assert", "host_reject"):
            self.assertIn(word, html)

    def test_an_unknown_operator_is_a_usage_error(self):
        ended = self.run_program("matrix", "no_such_operator", code=2)
        self.assertIn("no_such_operator", ended.err)
        self.assertEqual(ended.out, "")

    def test_two_formats_at_once_are_refused(self):
        self.run_program("matrix", "--json", "--html", code=2)


class CoverageTest(program.ProgramTest):
    def test_the_shipped_corpus_triggers_every_site(self):
        cases = program.ROOT / "corpus" / "catalogue" / "cases"
        found = self.run_program("coverage", "--json", cases).json()
        self.assertEqual(found["triggered"], found["sites"])
        self.assertGreaterEqual(found["sites"], 60)
        for site in found["list"]:
            if site["rows"]:
                self.assertNotEqual(site["triggered_by"], [], site)

    def test_a_campaigns_folder(self):
        out = self.folder / "out"
        self.run_program("fuzz", program.SCENARIOS / "gather.yaml", "--runs", "200", "--out", out, "--search-only",
                         code=None)
        text = self.run_program("coverage", out).out
        self.assertRegex(text, r"\ngather +\d+ +\d+ +1 of \d+\n")
        self.assertIn("Never reached:", text)

    def test_a_folder_without_cases_is_a_usage_error(self):
        ended = self.run_program("coverage", self.folder, code=2)
        self.assertIn(str(self.folder), ended.err)


if __name__ == "__main__":
    program.unittest.main(verbosity=2)
