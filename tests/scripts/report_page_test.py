"""The report's page in a real Chromium: nothing leaves it, nothing foreign runs in it, and people can use it by
keyboard, on a phone, in the dark and on paper. Usage: report_page_test.py SCRIPT CLASS [FOLDER for screenshots]
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from campaign_store import CampaignStore
from chromium_page import ChromiumPage

SCRIPT, PICTURES = "", None
HOSTILE = [
    "</script><script>window.pwned=1</script>",
    "<img src=x onerror='window.pwned=2'>",
    "{{7*7}}${7*7}",
    "javascript:window.pwned=3",
    '" onmouseover="window.pwned=4',
    "<!--<script>",
    "\u202egnp.exe \u2028\u2029 \x07\x1b[31m",
    "]]><svg onload=window.pwned=5>",
]


def make_store(out):
    """Two runs; everything that the page shows; every text somewhere hostile."""
    store = CampaignStore(out)
    first = store.run("2026-12-01T01:00:00Z", "2026-12-01T02:00:00Z")
    second = store.run("2026-12-02T01:00:00Z", "2026-12-02T02:30:00Z")
    for i in range(70):
        name = f"device_assert-{i:016x}"
        words = HOSTILE[i % len(HOSTILE)] if i < 16 else f"labels[{i}] is 9, but values must lie in [0, 9)."
        verdict = "memory_fault" if i % 7 == 0 else "device_assert"
        signature = {
            "text": f"Loss.cu kernel_{i} {words}",
            "verdict": verdict,
            "op": "aten::gather" if i % 5 else words,
        }
        place = store.folder(
            name,
            words,
            signature=signature,
            evidence=[words, "second line"],
            cpu_opinion=words,
            devices={words: {"confirmed": 1, "of": 2}},
            case=f"case: gather\nseed: {i}\n# {words}\n",
            **{"class": {"title": words if i < 16 else "index not compared"}},
        )
        (place / "repro.py").write_text(f"import torch\n\nprint({words!r})\n", encoding="utf-8")
        store.met(first, name, "new" if i % 10 else "known", signature, scenario=words)
        if i < 60:
            state = "new" if i in (3, 20, 21) else "gone" if i in (22, 23) else "known"
            store.met(second, name, state, signature, scenario="gather" if i > 15 else words, seen=words)
    for run in (first, second):
        for at in range(30):
            store.sample(run, at * 2, doing=HOSTILE[0])
        for i, words in enumerate(HOSTILE):
            store.insert(
                "regressions",
                run=run,
                name=f"case {i} {words}",
                device=words,
                expected=words,
                seen=words,
                status="differs" if i == 2 else "as_expected",
                text=words,
            )
    for i, words in enumerate(HOSTILE * 3):
        store.insert(
            "sites",
            run=second,
            source=f"aten/{words}/File{i % 4}.cu:{i}",
            function=words,
            condition=f"t >= {i}",
            rows="U01 U02",
            reached=int(i % 3 > 0),
            triggered=int(i % 3 > 1),
            scenarios=words,
        )
        store.insert(
            "parity",
            run=second,
            id=f"U{i}/{words}",
            op=words,
            source=words,
            condition=words,
            agreement=["acceptance_differs", "manner_differs", "agrees"][i % 3],
            matches_catalogue=None,
            position=i,
        )
        store.insert("parity_cells", run=second, id=f"U{i}/{words}", device="vcuda", verdict="silent", signature=words)
        store.insert("parity_cells", run=second, id=f"U{i}/{words}", device=words[:9], verdict=words, signature=words)
    for words in HOSTILE:
        store.insert("run_problems", run=second, at=1.0, text=words)
        store.insert("run_versions", run=second, name=words, version=words)
        store.insert("run_devices", run=second, device=words, executions=1, seconds=1.0, findings=1)
        store.insert("run_steps", run=second, name=words, at=1.0, seconds=None, note=words)
    store.close()
    classes = out / "classes"
    classes.mkdir()
    (classes / "class_label.md").write_text(f"# {HOSTILE[0]}\n", encoding="utf-8")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = ChromiumPage()  # skips all where there is none
        cls.addClassCleanup(cls.browser.close)
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="dsafuzz-page-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        make_store(cls.folder / "out")
        cls.page = cls.folder / "report.html"
        subprocess.run([sys.executable, SCRIPT, cls.folder / "out", "--html", cls.page], check=True)

    def setUp(self):
        self.browser.resize(1280, 900)
        self.browser.colour_scheme("light")
        self.browser.console()

    def value(self, expression, *arguments):
        return self.browser.value(expression, *arguments)

    def picture(self, name):
        if PICTURES:
            self.browser.screenshot(os.path.join(PICTURES, name + ".png"))

    def shown(self):
        return self.value("[...document.querySelectorAll('.finding')].filter(f => !f.hidden).map(f => f.dataset.name)")

    def open_everything(self):
        self.value("document.getElementById('more-all')?.click()")
        self.value("document.querySelectorAll('details').forEach(d => d.open = true)")
        self.browser.wait("document.querySelectorAll('.finding[data-filled]').length === 70")
        self.value("document.querySelectorAll('.finding details').forEach(d => d.open = true)")


class ContentTest(Page):
    """What stands in the page, and what it must not do."""

    def test_opens_without_errors_and_asks_for_nothing(self):
        self.browser.requested()
        self.browser.open(self.page)
        for section in ("findings", "classes", "runs", "progress", "sites", "parity", "regressions", "problems"):
            self.value(f"document.getElementById('{section}').scrollIntoView({{behavior: 'instant'}})")
            time.sleep(0.1)
        self.browser.wait("document.querySelectorAll('.chart .main-svg').length >= 4")
        self.assertEqual(self.browser.console(), [])
        self.assertEqual(self.browser.requested(), [])

    def test_nothing_can_leave_and_nothing_else_can_run(self):
        self.browser.open(self.page)
        self.value("fetch('https://example.com/').catch(() => document.title = 'refused')")
        self.browser.wait("document.title === 'refused'")
        self.value(
            "(() => { const s = document.createElement('script'); s.textContent = 'window.pwned = 9'; "
            "document.body.append(s); const i = document.createElement('img'); i.src = 'https://example.com/a.png'; "
            "document.body.append(i); })()"
        )
        time.sleep(0.2)
        self.assertIsNone(self.value("window.pwned"))
        said = "\n".join(self.browser.console())
        for directive in ("connect-src", "script-src", "img-src"):
            self.assertIn(directive, said)  # what says no is the page's policy, not the missing network

    def test_foreign_text_is_text(self):
        self.browser.open(self.page)
        self.open_everything()
        self.value(
            "(() => { const s = document.getElementById('parity-agreement'); s.value = ''; "
            "s.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )
        time.sleep(0.3)
        self.assertIsNone(self.value("window.pwned"))
        self.assertEqual(
            self.value("document.querySelectorAll('img, svg[onload], [onmouseover], [onerror]').length"), 0
        )
        # The block of data, Plotly's library as text, and our script.
        self.assertEqual(self.value("document.scripts.length"), 3)
        links = self.value("[...document.links].map(a => a.protocol)")
        self.assertEqual(set(links), {"file:"})
        text = self.value("document.body.textContent")
        for words in HOSTILE[:6]:
            self.assertIn(words, text)
        self.assertIn("\\u202egnp.exe \\u2028\\u2029 \\u0007\\u001b[31m", text)
        self.assertIsNone(re.search("[\u202e\u2028\u2029\x07\x1b]", text))
        self.assertEqual(self.browser.console(), [])

    def test_says_first_what_is_new_and_what_to_do(self):
        self.browser.open(self.page)
        self.assertEqual(self.value("document.querySelector('h1').textContent.trim()"), "3 new findings")
        self.assertEqual(self.value("document.title"), "3 new findings - dsafuzz")
        self.value("document.querySelector('.todo a').click()")
        self.browser.wait("location.hash === '#findings?state=new'")
        self.browser.wait("document.getElementById('shown').textContent.startsWith('3 of 70')")
        self.assertEqual(sorted(self.shown()), [f"device_assert-{i:016x}" for i in (3, 20, 21)])
        bottom = self.value("document.querySelector('.todo').getBoundingClientRect().bottom + scrollY")
        self.assertLess(bottom, 400)
        self.picture("filtered")

    def test_everything_has_a_name(self):
        self.browser.open(self.page)
        self.open_everything()
        unnamed = self.value(
            "[...document.querySelectorAll('button, input, select, [role=region], [role=img], nav')].filter(e => "
            "!(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent.trim() && "
            "e.tagName === 'BUTTON' || e.labels && e.labels.length)).map(e => e.outerHTML.slice(0, 100))"
        )
        self.assertEqual(unnamed, [])
        self.assertEqual(self.value("[...document.querySelectorAll('th')].filter(t => !t.scope).length"), 0)
        ids = self.value(
            "[...document.querySelectorAll('[id]')].map(e => e.id).filter(i => !/^(clip|legend|p)/.test(i))"
        )
        self.assertEqual(len(ids), len(set(ids)))
        levels = self.value("[...document.querySelectorAll('h1, h2, h3')].map(h => Number(h.tagName[1]))")
        self.assertEqual(levels.count(1), 1)
        self.assertTrue(all(b - a <= 1 for a, b in zip(levels, levels[1:], strict=False)), levels)


class UseTest(Page):
    """What people do with it."""

    def test_filter_by_keyboard_and_address(self):
        from selenium.webdriver.common.keys import Keys

        self.browser.open(self.page)
        self.browser.keys("/", "kernel_6 labels")
        self.browser.wait("location.hash === '#findings?words=kernel_6+labels'")
        # The cause of finding 6 is one of the hostile ones.
        self.assertEqual(sorted(self.shown()), [f"device_assert-{i:016x}" for i in range(60, 70)])
        self.browser.keys(*[Keys.BACKSPACE] * 15, "kernel_2", Keys.TAB)
        self.browser.wait("document.activeElement.id === 'filter-state'")
        self.browser.keys("gone")
        self.browser.wait("location.hash === '#findings?state=gone&words=kernel_2'")
        self.assertEqual(sorted(self.shown()), [f"device_assert-{i:016x}" for i in (22, 23)])
        self.browser.open(self.page, "#findings?state=gone&words=kernel_2&verdict=no_such_thing")
        self.assertEqual(len(self.shown()), 2)
        self.assertEqual(self.value("document.getElementById('words').value"), "kernel_2")
        # As for a link that is followed while the page is open.
        name = "device_assert-0000000000000017"
        self.value("location.hash = arguments[0]", f"#finding/{name}")
        self.browser.wait(f"document.querySelector('[data-name=\"{name}\"]').open")
        self.value("location.hash = '#findings?words=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E'")
        self.browser.wait("document.getElementById('words').value === '<img src=x onerror=alert(1)>'")
        self.assertEqual(self.value("document.querySelectorAll('img').length"), 0)

    def test_a_finding_opens_by_keyboard_and_its_reproducer_is_copied(self):
        from selenium.webdriver.common.keys import Keys

        self.browser.open(self.page, "#findings?words=kernel_20")
        self.value("document.querySelector('.finding:not([hidden]) summary').focus()")
        self.browser.keys(Keys.ENTER)
        self.browser.wait("document.querySelector('.finding:not([hidden])').dataset.filled")
        self.assertEqual(
            self.value("[...document.querySelectorAll('.finding:not([hidden]) h3')].map(h => h.textContent)"),
            ["Evidence", "A guard for the call", "Minimal case", "Reproducer in Python"],
        )
        self.browser.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
        button = "document.querySelector('[aria-label=\"Copy: Reproducer in Python\"]')"
        self.value(f"{button}.focus()")
        self.browser.keys(Keys.ENTER)
        self.browser.wait(f"{button}.textContent === 'Copied'")
        code = "import torch\n\nprint('labels[20] is 9, but values must lie in [0, 9).')\n"
        self.assertEqual(self.value("navigator.clipboard.readText()"), code)
        # Where the clipboard is kept from a file, the text is selected and copied the old way, or the reader is told.
        self.value("Object.defineProperty(navigator, 'clipboard', {value: undefined}) && true")
        self.browser.wait(f"{button}.textContent === 'Copy'")
        self.value(f"{button}.click()")
        self.browser.wait(f"['Copied', 'Press Ctrl+C'].includes({button}.textContent)")
        self.assertEqual(self.value("getSelection().toString().trim()"), code.strip())
        self.assertEqual(self.browser.console(), [])
        self.picture("finding")

    def test_the_first_tab_skips_to_the_findings_and_focus_is_seen(self):
        from selenium.webdriver.common.keys import Keys

        self.browser.open(self.page)
        self.browser.keys(Keys.TAB)
        self.assertEqual(self.value("document.activeElement.className"), "skip")
        self.assertGreaterEqual(self.value("document.activeElement.getBoundingClientRect().left"), 0)
        self.assertNotEqual(self.value("getComputedStyle(document.activeElement).outlineStyle"), "none")

    def test_on_a_phone_only_tables_scroll_sideways(self):
        self.browser.resize(360, 740)
        self.browser.open(self.page)
        self.picture("phone")
        self.open_everything()
        for section in ("runs", "progress", "parity"):
            self.value(f"document.getElementById('{section}').scrollIntoView({{behavior: 'instant'}})")
            time.sleep(0.2)
            self.picture(f"phone-{section}")
        self.assertLessEqual(self.value("document.documentElement.scrollWidth"), 360)
        wide = self.value(
            "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > 361 && "
            "!e.closest('.scroll, pre, svg, .chart')).map(e => e.outerHTML.slice(0, 80))"
        )
        self.assertEqual(wide, [])

    def test_dark(self):
        def luminance(colour):
            return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) / 3

        self.browser.colour_scheme("dark")
        self.browser.open(self.page)
        self.value("document.getElementById('runs').scrollIntoView({behavior: 'instant'})")
        self.browser.wait("document.querySelector('.chart .main-svg text')")
        self.picture("dark")
        self.assertLess(luminance(self.value("getComputedStyle(document.body).backgroundColor")), 60)
        self.assertGreater(luminance(self.value("getComputedStyle(document.body).color")), 200)
        self.assertGreater(luminance(self.value("getComputedStyle(document.querySelector('.chart text')).fill")), 120)

    def test_on_paper(self):
        self.browser.open(self.page, "#findings?state=new")
        paper = self.browser.pdf()
        self.assertTrue(paper.startswith(b"%PDF"))
        if PICTURES:
            pathlib.Path(PICTURES, "paper.pdf").write_bytes(paper)
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        self.value("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.value("getComputedStyle(document.getElementById('filters')).display"), "none")
        self.assertEqual(self.value("document.querySelectorAll('.finding[open][data-filled]').length"), 3)
        self.assertEqual(self.value("[...document.querySelectorAll('.finding:not([hidden]) pre')].length"), 12)
        self.assertGreaterEqual(self.value("document.querySelectorAll('.chart .main-svg').length"), 4)
        self.value("dispatchEvent(new Event('afterprint'))")
        self.browser.call("Emulation.setEmulatedMedia", media="")
        self.assertEqual(self.value("document.querySelectorAll('.finding[open]').length"), 0)
        self.assertEqual(self.browser.console(), [])


if __name__ == "__main__":
    SCRIPT = os.path.abspath(sys.argv[1])
    PICTURES = sys.argv[3] if len(sys.argv) > 3 else None
    unittest.main(argv=[sys.argv[0], *sys.argv[2:3]])
