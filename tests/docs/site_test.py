#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site, checks every link, anchor and image of its pages, and clicks through it in headless Chromium: menu, search,
keyboard, the width of every page on a phone and on a desk, and by axe-core (from npm) its contrast, names and texts, light and dark.

    tests/docs/site_test.py [--site FOLDER] [--screenshots FOLDER] [--page NAME...]

With --site it checks one that is there, with --page these pages only. Status 77: a package is missing (a failure where
NIGH_REQUIRE_PACKAGES=1).
"""

import argparse
import functools
import html.parser
import http.server
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/browser"))
import axe  # noqa: E402
import chromium  # noqa: E402
from chromium import until  # noqa: E402

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}
PAGES = ["", "run/", "tasks/", "results/figures/", "reference/commands/nigh-run/", "reference/headers/runtime_hpp/", "results-schema/"]


class Page(html.parser.HTMLParser):
    """The links, loaded files and anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors, self.without_text = [], [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(filter(None, (found.get("id"), found.get("name"))))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if tag in LOADED and found.get(LOADED[tag]) and found.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(found[LOADED[tag]])
        if tag == "img" and not found.get("alt", "").strip():
            self.without_text.append(found.get("src"))


def complaints_of_files(site):
    """[what is wrong] with the links of all pages, without a browser."""
    pages = {file: Page(file.read_text(encoding="utf-8")) for file in site.rglob("*.html") if file.name != "404.html"}
    wrong = []
    for file, page in pages.items():
        where = file.relative_to(site)
        wrong += [f"{where}: the image {name} has no text" for name in page.without_text]
        wrong += [f"{where}: loads {name} from the network" for name in page.loaded if "//" in name]
        for link in page.links + page.loaded:
            path, anchor = urllib.parse.urldefrag(link)
            if ":" in path.partition("/")[0] or path.startswith("//"):
                continue
            target = (file.parent / urllib.parse.unquote(path)).resolve() if path else file
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                wrong.append(f"{where}: {link} leads nowhere")
            elif anchor and target in pages and urllib.parse.unquote(anchor) not in pages[target].anchors:
                wrong.append(f"{where}: {link}: the page has no such anchor")
    for style in site.rglob("*.css"):
        if "url(http" in style.read_text(encoding="utf-8"):
            wrong.append(f"{style.relative_to(site)}: loads from the network")
    return wrong, len(pages)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Reader:
    """A person with a browser."""

    def __init__(self, address, screenshots, profile):
        self.browser = chromium.start(profile, ", EXCLUDE 127.0.0.1")
        self.address, self.screenshots, self.wrong = address, screenshots, []

    def script(self, text):
        return self.browser.execute_script(text)

    def open(self, page):
        self.browser.get(self.address + page)

    def picture(self, name):
        if self.screenshots:
            self.browser.save_screenshot(str(self.screenshots / f"{name}.png"))

    def check_page(self, page, pixels):
        chromium.set_width(self.browser, pixels)
        self.open(page)
        if not until(lambda: self.script("return [...document.images].every(i => i.complete)")):
            self.wrong.append(f"/{page}: pictures are still loading after a minute")
        bad = self.script("return [...document.images].filter(i => !i.naturalWidth).map(i => i.src)")
        self.wrong += [f"/{page}: {name} is no picture" for name in bad]
        across, inner = self.script("return [document.documentElement.scrollWidth, window.innerWidth]")
        if across > pixels or inner > pixels:
            self.wrong.append(f"/{page}: {max(across, inner)} pixels wide on a screen of {pixels}")
        outside = self.script("return performance.getEntriesByType('resource').map(e => e.name)")
        self.wrong += [f"/{page}: loads {name}" for name in outside if not name.startswith((self.address, "data:", "blob:"))]
        self.picture(f"{page.replace('/', '-') or 'home-'}{pixels}")

    def check_menu(self):
        """Each link of the menu, one click after the other, leads to a page with a heading."""
        chromium.set_width(self.browser, 1280)
        self.open("")
        names = self.script("return [...document.querySelectorAll('.md-nav--primary .md-nav__list > .md-nav__item--nested > .md-nav > .md-nav__list > .md-nav__item > a')].map(a => a.href)")
        names = [name for name in dict.fromkeys(names) if name]
        if len(names) < 40:
            self.wrong.append(f"the menu has {len(names)} links only")
        for name in names:
            self.script(f"[...document.querySelectorAll('.md-nav--primary a')].find(a => a.href === {name!r}).click()")
            if not until(lambda: self.script("return document.readyState === 'complete' && !!document.querySelector('h1')")
                         and self.browser.current_url.split("#")[0] == name.split("#")[0]):
                self.wrong.append(f"the menu's {name} opens {self.browser.current_url}")
        return len(names)

    def check_search(self):
        """The search finds what pages say, and its first result opens."""
        from selenium.webdriver.common.by import By
        chromium.set_width(self.browser, 1280)
        self.open("")
        field = self.browser.find_element(By.CSS_SELECTOR, ".md-search__input")
        field.click()
        field.send_keys("locality queue")
        results = until(lambda: self.browser.find_elements(By.CSS_SELECTOR, ".md-search-result__link"))
        if not results:
            self.wrong.append("the search finds no locality queue")
            return
        self.picture("search")
        results[0].click()
        if not until(lambda: "locality queue" in self.script("return document.body.innerText").lower()
                     and self.browser.current_url != self.address):
            self.wrong.append("the first result of the search opens no page on locality queues")


    def check_for_all_readers(self, script, page):
        """Shows it on a phone and on a desk. Asks axe-core, if there, for all its rules in light, and for those of colours in dark."""
        self.check_page(page, 390)
        if script and page in PAGES:
            self.script(script)
            self.wrong += axe.complaints(self.browser, axe.LEVELS, f"/{page} on a phone")
        self.check_page(page, 1280)
        if script:
            self.script(script)
            self.wrong += axe.complaints(self.browser, axe.LEVELS, f"/{page}")
            self.script("document.body.setAttribute('data-md-color-scheme', 'slate')")
            self.wrong += axe.complaints(self.browser, axe.OF_COLOURS, f"/{page} in the dark")

    def check_keyboard(self):
        """Without a mouse one gets into the search, opens a part of the menu, and sees where one is."""
        from selenium.webdriver.common.keys import Keys
        chromium.set_width(self.browser, 1280)
        self.open("tasks/")
        until(lambda: self.script("return !!document.querySelector('.md-nav__link[role=button]')"))
        reached, hidden = set(), []
        for _ in range(40):
            chromium.press(self.browser, Keys.TAB)
            where, seen = self.script(FOCUS)
            reached.add(where.split(" ")[0])
            if not seen:
                hidden.append(where)
            if where.startswith("menu ") and "Across hosts" in where:
                chromium.press(self.browser, Keys.ENTER)
                if self.script("return document.activeElement.getAttribute('aria-expanded')") != "true":
                    self.wrong.append("Enter does not open 'Across hosts' in the menu")
                chromium.press(self.browser, Keys.TAB)
                if "/cluster/" not in self.script("return document.activeElement.href || ''"):
                    self.wrong.append("Tab does not lead into a part of the menu that Enter has opened")
                break
        self.wrong += [f"Tab never reaches {what}" for what in ("search", "menu", "link") if what not in reached]
        self.wrong += [f"one does not see that {what} has the keyboard" for what in dict.fromkeys(hidden)]
        self.picture("keyboard")
        chromium.press(self.browser, Keys.ESCAPE)
        self.open("tasks/")
        chromium.press(self.browser, "/")
        if not until(lambda: self.script(FOCUS)[0].startswith("search"), 10):
            self.wrong.append("the key / does not open the search")


# Which element has the keyboard, and whether one sees that: it lies on the screen and has an outline.
FOCUS = """
    const e = document.activeElement, at = e.getBoundingClientRect();
    const shown = e.matches('.md-option') ? e.nextElementSibling : e;
    const style = getComputedStyle(shown);
    const kind = e.matches('.md-search__input') ? 'search' : e.matches('.md-nav__link[role=button]') ? 'menu' : e.tagName === 'A' ? 'link' : 'other';
    const name = (e.textContent.trim() || e.getAttribute('aria-label') || e.tagName).replace(/\\s+/g, ' ').slice(0, 40);
    const seen = style.outlineStyle !== 'none' && style.visibility !== 'hidden'
        && (e.matches('.md-option') || at.width > 0 && at.bottom > 0 && at.top < innerHeight);
    return [kind + ' ' + name, seen];"""


def read_in_browser(site, screenshots, only):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        reader = Reader(f"http://127.0.0.1:{server.server_port}/", screenshots, profile)
        try:
            script, count = chromium.axe_script(), 0
            pages = only or sorted(f"{file.parent.relative_to(site)}/" for file in site.rglob("index.html"))
            for page in pages:
                reader.check_for_all_readers(script, "" if page in ("./", "/") else page)
            if not only:
                count = reader.check_menu()
                reader.check_search()
                reader.check_keyboard()
        finally:
            reader.browser.quit()
            server.shutdown()
    return reader.wrong, count, len(pages) if script else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("--page", action="append", default=[], help="as tasks/")
    arguments = parser.parse_args()
    missing = [name for name in ("mkdocs", "doxygen", "mandoc", "chromium", "chromedriver") if not shutil.which(name)]
    if missing:
        print(f"site_test.py: {missing[0]} is not installed")
        return 1 if os.environ.get("NIGH_REQUIRE_PACKAGES") == "1" else 77
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        site = arguments.site or pathlib.Path(folder, "site")
        if not arguments.site:
            subprocess.run([str(ROOT / "scripts/site"), str(site)], check=True)
        wrong, pages = complaints_of_files(site.resolve())
        in_browser, menu, by_axe = read_in_browser(site.resolve(), arguments.screenshots, arguments.page)
    for what in wrong + in_browser:
        print(what)
    print(f"{pages} pages, {menu} links in the menu, {by_axe} pages by axe-core {axe.VERSION}, {len(wrong + in_browser)} mistakes")
    return 1 if wrong or in_browser else 0


if __name__ == "__main__":
    sys.exit(main())
