#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Opens reports in headless Chromium: figures are drawn, both themes are readable, phones and printers show all, keys do what the
mouse does, and axe-core finds nothing to complain of.

    report_browser_test.py NIGH FOLDER_OF_OPENMP_PROGRAMS [--screenshots FOLDER]

Status 77: Chromium, selenium or plotly is missing (a failure where NIGH_REQUIRE_PACKAGES=1)."""
import argparse
import base64
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/browser"))
import axe  # noqa: E402
import chromium  # noqa: E402
from chromium import until  # noqa: E402

MISSING = 77
LEAST_CONTRAST = 4.5  # WCAG AA, of text
# The text of the page, and of the figures against their paper.
CONTRASTS = """
const light = c => { const m = c.match(/[0-9.]+/g).map(Number);
  if (m.length > 3 && m[3] === 0) return null;
  const [r, g, b] = m.slice(0, 3).map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const behind = e => { for (; e; e = e.parentElement) {
  const c = getComputedStyle(e).backgroundColor; if (light(c) !== null) return light(c); } return 1; };
const bad = [];
const check = (e, colour, under) => { const a = light(colour), r = (Math.max(a, under) + 0.05) / (Math.min(a, under) + 0.05);
  if (r < arguments[0]) bad.push(r.toFixed(2) + ' ' + e.textContent.trim().slice(0, 40)); };
document.querySelectorAll('body *').forEach(e => {
  if (e.closest('svg, script, style') || ![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())) return;
  check(e, getComputedStyle(e).color, behind(e)); });
document.querySelectorAll('.nigh-plot text').forEach(e => {
  if (e.textContent.trim()) check(e, getComputedStyle(e).fill, behind(e.closest('section'))); });
return bad;
"""
THEME = "return document.documentElement.getAttribute('data-theme')"
# Elements that Tab comes to, in the order of the page: none that lie in closed details.
REACHABLE = """
return [...document.querySelectorAll('a[href], button, summary, [tabindex="0"]')]
    .filter(e => e.matches('summary') || !e.closest('details:not([open])'))"""
# Which of them has the keyboard, and whether one sees that: it lies on the screen and has an outline.
FOCUS = REACHABLE.replace("return", "const all =", 1) + """;
const e = document.activeElement, at = e.getBoundingClientRect();
return [all.indexOf(e), e.tagName + ' ' + (e.id || e.textContent.trim().slice(0, 40)),
        getComputedStyle(e).outlineStyle !== 'none' && at.width > 0 && at.bottom > 0 && at.top < innerHeight];"""


class Reader:
    """A person with a browser."""

    def __init__(self, screenshots, profile):
        self.browser = chromium.start(profile)
        self.axe = chromium.axe_script()
        self.screenshots, self.wrong = screenshots, []

    def script(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def expect(self, good, what):
        if not good:
            self.wrong.append(what)

    def picture(self, name):
        if self.screenshots:
            width, height = self.script("return [innerWidth, Math.min(6000, document.documentElement.scrollHeight)]")
            shot = self.browser.execute_cdp_cmd("Page.captureScreenshot", {
                "captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}})
            (self.screenshots / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    def check(self, file, width, prefers):
        name = f"{file.stem}-{width}-{prefers}"
        chromium.set_width(self.browser, width)
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                     {"features": [{"name": "prefers-color-scheme", "value": prefers}]})
        self.browser.get(file.as_uri())
        plots = self.script("return document.querySelectorAll('.nigh-plot').length")
        drawn = until(lambda: self.script("return [...document.querySelectorAll('.nigh-plot')].filter(p => p.querySelector('.main-svg') "
                                          "&& p.querySelector('path, image, rect')).length") == plots)
        self.expect(plots > 0 and drawn, f"{name}: not all of {plots} figures are drawn")
        self.expect(self.script(THEME) == prefers, f"{name}: the page is {self.script(THEME)}")
        across = self.script("return Math.max(document.documentElement.scrollWidth, innerWidth)")
        self.expect(across <= width, f"{name}: {across} pixels wide")
        wide = self.script("return [...document.querySelectorAll('.nigh-plot .main-svg')]"
                           ".filter(s => s.getBoundingClientRect().right > innerWidth + 1).length")
        self.expect(wide == 0, f"{name}: {wide} figures are wider than the page")
        self.expect(self.script("return [...document.querySelectorAll('[role=img]')].every(e => e.getAttribute('aria-label'))"),
                    f"{name}: a figure without text")
        loaded = self.script("return performance.getEntriesByType('resource').map(e => e.name)")
        self.expect(not loaded, f"{name}: loads {loaded}")
        self.wrong += [f"{name}: contrast {bad}" for bad in self.script(CONTRASTS, LEAST_CONTRAST)[:5]]
        self.picture(name)
        self.script("document.getElementById('theme').click()")
        other = "light" if prefers == "dark" else "dark"
        self.expect(until(lambda: self.script(THEME) == other, 5), f"{name}: the button does not switch the theme")
        self.wrong += [f"{name}: after the button: contrast {bad}" for bad in self.script(CONTRASTS, LEAST_CONTRAST)[:5]]
        self.wrong += [f"{name}: {entry['message']}" for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]

        self.check_for_all_readers(name)

    def check_for_all_readers(self, name):
        """What axe-core finds in the page that is open, in its present theme and in the other one."""
        if self.axe:
            self.script(self.axe)
            self.wrong += axe.complaints(self.browser, axe.LEVELS, name)
            self.script("document.getElementById('theme').click()")
            self.wrong += axe.complaints(self.browser, axe.OF_COLOURS, f"{name}, after the button")

    def check_keyboard(self, file):
        """Without a mouse one reaches all that can be pressed, sees where one is, and switches the theme."""
        from selenium.webdriver.common.keys import Keys
        self.browser.get(file.as_uri())
        count = len(self.script(REACHABLE))
        reached, hidden = set(), set()
        for _ in range(count):
            chromium.press(self.browser, Keys.TAB)
            place, name, _ = self.script(FOCUS)
            reached.add(place)
            if not until(lambda: self.script(FOCUS)[2], 3):  # the page scrolls smoothly
                hidden.add(name)
            if name.startswith("BUTTON theme"):
                before = self.script(THEME)
                chromium.press(self.browser, Keys.ENTER)
                self.expect(self.script(THEME) != before, f"{file.stem}: Enter does not switch the theme")
        self.expect(count > 3 and reached == set(range(count)), f"{file.stem}: Tab reaches {len(reached)} of {count} elements")
        self.wrong += [f"{file.stem}: one does not see that {what} has the keyboard" for what in sorted(hidden)]

    def check_print(self, file):
        self.browser.get(file.as_uri())
        made = base64.b64decode(self.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        self.expect(made.startswith(b"%PDF") and len(made) > 20000, f"{file.stem}: the print has {len(made)} bytes only")
        if self.screenshots:
            (self.screenshots / f"{file.stem}.pdf").write_bytes(made)


def missing():
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "python3-selenium"
    if not all(map(os.path.exists, ("/usr/bin/chromium", "/usr/bin/chromedriver"))):
        return "chromium, chromium-driver"
    pythons = ("python3", "/usr/bin/python3")
    if all(subprocess.run([p, "-c", "import plotly"], capture_output=True, check=False).returncode for p in pythons):
        return "python3-plotly"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nigh", type=pathlib.Path)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    given = parser.parse_args()
    lacking = missing()
    if lacking:
        print(f"needs {lacking}")
        return 1 if os.environ.get("NIGH_REQUIRE_PACKAGES") == "1" else MISSING
    nigh = str(given.nigh.resolve())
    if given.screenshots:
        given.screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        program = given.programs.resolve() / "tasks-gcc"
        words = [str(program)] if program.exists() else ["sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]
        results = [str(ROOT / "docs/results" / name) for name in ("tasks.json", "mg.json", "profile-cg.json", "sim-scale.json")]
        subprocess.run([nigh, "tune", "--budget", "5s", "--repetitions", "1", "--json", "tune.json", "--", *words], check=True,
                       timeout=300, cwd=folder, stdout=subprocess.DEVNULL)
        tuned = [f"{folder}/nigh-profile.json", f"{folder}/tune.json"]
        for name, what in (("program", ["--repetitions", "1", "--", *words]), ("files", results), ("tuned", tuned)):
            subprocess.run([nigh, "report", "-o", f"{folder}/{name}.html", *what], check=True, timeout=300,
                           env=dict(os.environ, NIGH_PROFILES=f"{folder}/profiles"), stdout=subprocess.DEVNULL)
        reader = Reader(given.screenshots, folder + "/chromium")
        try:
            for name in ("program", "files", "tuned"):
                for width in (1280, 390):
                    for prefers in ("light", "dark"):
                        reader.check(pathlib.Path(folder, f"{name}.html"), width, prefers)
                reader.check_keyboard(pathlib.Path(folder, f"{name}.html"))
                reader.check_print(pathlib.Path(folder, f"{name}.html"))
        finally:
            reader.browser.quit()
    for line in reader.wrong:
        print(line)
    print(f"{len(reader.wrong)} complaints")
    return 1 if reader.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
