#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks each address outside of this repository, to which a page links, whether it is there.

    tests/docs/external_links_test.py [ROOT]

Prints one line per dead address, file:line first, and exits 1 when there is any; 77 when no address can be reached at
all. An answer that says anything but "not found" or "gone" counts as life: servers refuse programs for many reasons.
First it asks a server of its own for pages that are there, gone and refused, and fails when it takes one for another.
"""

import concurrent.futures
import http.server
import pathlib
import sys
import threading
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
import links_test  # noqa: E402

GONE = (404, 410)
SECONDS = 20


def answer_of(address):
    """The status that a server answers, or None when none does."""
    request = urllib.request.Request(address.partition("#")[0], headers={"User-Agent": "Mozilla/5.0"})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as reply:
            return reply.status
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError:
        return None


def self_test():
    """Fails when the answers of a server of this test are misread."""
    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(int(self.path[1:]))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}"
        got = [answer_of(f"{here}/{status}#part") for status in (200, 404, 410, 403)]
        server.shutdown()
    got.append(answer_of(here))
    assert got == [200, 404, 410, 403, None], got


def main():
    """Returns the exit status."""
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else links_test.HERE.parent.parent).resolve()
    self_test()
    places = {}
    for page in links_test.pages_of(root):
        for _, _, line, _, _, target in links_test.markdown_links.links(page.read_text(encoding="utf-8")):
            if target.startswith(("http://", "https://")):
                places.setdefault(target, f"{page.relative_to(root)}:{line}")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = dict(zip(places, pool.map(answer_of, places)))
    for address, answer in answers.items():
        print(f"{places[address]}: {address}: {answer or 'no answer'}")
    if not any(answers.values()):
        print("skipped: no address can be reached")
        return 77
    return int(any(answer in GONE for answer in answers.values()))


if __name__ == "__main__":
    sys.exit(main())
