# SPDX-License-Identifier: Apache-2.0
"""axe-core, which checks contrast, texts and names of pages for people who see little or use no mouse (WCAG 2.1, A and AA).

It comes from the npm registry, is kept in build/axe-core, and is used only if it is the file that is named here.
"""

import base64
import hashlib
import io
import pathlib
import tarfile
import urllib.request

VERSION = "4.14.1"
INTEGRITY = "FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ=="  # SHA-512, as npm tells it
ADDRESS = f"https://registry.npmjs.org/axe-core/-/axe-core-{VERSION}.tgz"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
OF_COLOURS = ["color-contrast", "link-in-text-block"]
RUN = """
    const [only, done] = arguments;
    const still = document.createElement('style');
    still.textContent = '* { transition: none !important; animation: none !important }';
    document.head.append(still);
    document.querySelectorAll('details').forEach(d => d.open = true);
    axe.run(document, {runOnly: only, resultTypes: ['violations']})
        .then(r => done(r.violations.map(v => [v.id, v.nodes.length, v.nodes[0].target.join(' '), v.nodes[0].failureSummary])),
              e => done([['axe', 1, '', String(e)]]))"""


class NotThere(Exception):
    """There is no way to the registry."""


def is_intact(archive):
    return base64.b64encode(hashlib.sha512(archive).digest()).decode() == INTEGRITY


def script(folder):
    """The text of axe.min.js; the archive is kept in `folder`."""
    kept = pathlib.Path(folder, f"axe-core-{VERSION}.tgz")
    archive = kept.read_bytes() if kept.exists() else b""
    if not is_intact(archive):
        try:
            with urllib.request.urlopen(ADDRESS, timeout=60) as answer:
                archive = answer.read()
        except OSError as error:
            raise NotThere(f"{ADDRESS}: {error}") from error
        if not is_intact(archive):
            raise ValueError(f"{ADDRESS} is not the file whose SHA-512 is in {pathlib.Path(__file__).name}")
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(archive)
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return tar.extractfile("package/axe.min.js").read().decode()


def complaints(browser, rules, where):
    """[what is wrong] with the page that is open; axe.min.js has been run in it."""
    found = browser.execute_async_script(RUN, rules)
    return [f"{where}: {rule}, {count} times, as {place}: {' '.join(why.split())}" for rule, count, place, why in found]
