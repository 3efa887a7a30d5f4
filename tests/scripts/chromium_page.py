"""A page in a real Chromium, for tests and benchmarks: opened from a file, without a network, with what its console said.

Skipped with a reason where Chromium, its driver or selenium is missing.
"""
import base64
import os
import shutil
import tempfile
import unittest

WORDS = "(apt-get install chromium chromium-driver; pip install -r requirements-more.txt)"


class ChromiumPage:
    """One browser. Raises unittest.SkipTest where there is none."""

    def __init__(self, width=1280, height=900):
        try:
            from selenium import webdriver
        except ImportError:
            raise unittest.SkipTest(f"selenium is missing {WORDS}") from None
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        driver = shutil.which("chromedriver")
        if not program or not driver:
            raise unittest.SkipTest(f"Chromium or its driver is missing {WORDS}")
        self.profile = tempfile.TemporaryDirectory(prefix="dsafuzz-chromium-")
        options = webdriver.ChromeOptions()
        options.binary_location = program
        for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                         "--disable-background-networking", "--disable-component-update", "--disable-sync",
                         "--host-resolver-rules=MAP * ~NOTFOUND", f"--window-size={width},{height}",
                         f"--user-data-dir={self.profile.name}"):
            options.add_argument(argument)
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
        self.driver.set_script_timeout(20)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.driver.quit()
        self.profile.cleanup()

    def open(self, path, fragment=""):
        """Loads the file and waits until its script is done with it."""
        self.driver.get("about:blank")
        self.driver.get(f"file://{os.path.abspath(path)}{fragment}")
        self.wait("document.documentElement.dataset.ready === 'yes'")

    def wait(self, condition, seconds=10):
        from selenium.webdriver.support.wait import WebDriverWait
        WebDriverWait(self.driver, seconds, 0.02).until(lambda driver: driver.execute_script(f"return {condition}"))

    def value(self, expression, *arguments):
        return self.driver.execute_script(f"return {expression}", *arguments)

    def load_seconds(self):
        """From the start of loading to the end of the load event."""
        return self.value("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000

    def console(self):
        """What the console has said since it was last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requested(self):
        """Addresses that were asked for since it was last asked, but for the page's own file and what it holds."""
        import json
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                address = message["params"]["request"]["url"]
                if not address.startswith(("data:", "blob:", "about:", "chrome:")) and not message["params"].get("type") == "Document":
                    found.append(address)
        return found

    def call(self, method, **parameters):
        """A command of the Chrome DevTools protocol."""
        return self.driver.execute_cdp_cmd(method, parameters)

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def colour_scheme(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False)
        with open(path, "wb") as stream:
            stream.write(base64.b64decode(picture["data"]))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def keys(self, *keys):
        """Types into whatever has the focus."""
        from selenium.webdriver import ActionChains
        actions = ActionChains(self.driver)
        for key in keys:
            actions.send_keys(key)
        actions.perform()
