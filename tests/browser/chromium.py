# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, as a person's browser that reaches no network."""

import pathlib
import sys
import time

import axe

AXE = pathlib.Path(__file__).resolve().parent.parent.parent / "build/axe-core"


def until(what, seconds=60):
    """What `what` returns as soon as it is true; None when it is not in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            found = what()
        except Exception:  # an element of a page that is just being replaced
            found = None
        if found:
            return found
        time.sleep(0.2)
    return None


def start(profile, reached=""):
    """A browser that reaches no host, apart from exceptions in Chromium's words: ", EXCLUDE 127.0.0.1"."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for one in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                f"--user-data-dir={profile}", f"--host-resolver-rules=MAP * ~NOTFOUND{reached}"):
        options.add_argument(one)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
    browser.set_script_timeout(300)
    return browser


def set_width(browser, pixels):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": pixels, "height": 844, "deviceScaleFactor": 1, "mobile": pixels < 500})


def press(browser, *keys):
    from selenium.webdriver.common.action_chains import ActionChains
    ActionChains(browser).send_keys(*keys).perform()


def axe_script():
    """The text of axe-core, or None where there is no way to it, which is said."""
    test = pathlib.Path(sys.argv[0]).name
    try:
        return axe.script(AXE)
    except axe.NotThere as error:
        print(f"{test}: without axe-core, which cannot be had: {error}")
        return None
    except ValueError as error:
        sys.exit(f"{test}: {error}")
