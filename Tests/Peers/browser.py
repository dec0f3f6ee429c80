#!/usr/bin/env python3
"""A person at a browser: opens an address in headless Chromium, logs in, consents, and stays until
the page has led somewhere else.

    browser.py --user NAME --password-file FILE --report FILE [--deny] ADDRESS

It is what `$BROWSER` runs in the tests. Only Python's own library: WebDriver is JSON over HTTP
(W3C WebDriver), spoken to Debian's chromedriver, which ends with this process.

The report is one object of JSON, written once at the end, whole: `outcome` is `redirected` (with
the last `address`), `pin` (with the `pin`), or `failed` (with what the page said). Nobody has to
read the pages' words: the next thing to do is found by the form's fields.
"""

import argparse
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import peer

# W3C WebDriver section 12.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"

# What the next step is, found in the page by one script, so that nothing moves in between. A step
# is told with the elements that it needs. The order is that of a person's eye: what stands there
# for typing comes before what stands there for pressing.
LOOK = """
const deny = arguments[0];
const seen = element => element && element.offsetParent !== null && !element.disabled;
const all = selector => [...document.querySelectorAll(selector)].filter(seen);
const first = (...selectors) => {
  for (const selector of selectors) { const found = all(selector)[0]; if (found) return found; }
  return null;
};
const pin = first('#pin');
if (pin) return {step: 'pin', text: pin.textContent};
const password = first('input[type=password]');
if (deny && !(password && !first('[name=deny]'))) {
  const no = first('[name=deny]', '[value=deny]', 'input[type=submit]:not([name])');
  if (no) return {step: 'press', on: [no]};
}
if (password) {
  const form = password.form || document;
  const inside = selector => [...form.querySelectorAll(selector)].filter(seen)[0];
  const name = inside('input[name=username]') || inside('input[type=text]') || inside('input:not([type])');
  const button = inside('[type=submit]') || inside('button');
  return {step: 'login', on: [name, password, button]};
}
const subject = first('input[name=sub]');
if (subject) return {step: 'name', on: [subject, first('form [type=submit]')]};
const boxes = all('input[type=checkbox]').filter(box => !box.checked);
const yes = first('[name=allow]', 'button.btn-success', 'button.btn-primary');
if (yes) return {step: 'press', on: [...boxes, yes]};
const buttons = all('button, input[type=submit], a.btn').map(
  one => `${one.tagName} id=${one.id} name=${one.name} ${one.textContent.trim()}`);
return {step: 'wait', text: document.body ? document.body.innerText : '', buttons};
"""


class Driver:
    """One session of a chromedriver."""

    def __init__(self, address, profile):
        self.address = address
        self.session = None
        options = {
            "binary": "/usr/bin/chromium",
            "args": [
                "--headless=new",
                # root has no namespaces of its own in a container, and the pages are the tests' own.
                "--no-sandbox",
                "--disable-dev-shm-usage",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                "--no-proxy-server",
                "--window-size=1000,900",
                f"--user-data-dir={profile}",
            ],
        }
        wanted = {"browserName": "chrome", "goog:chromeOptions": options}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = made["sessionId"]

    def call(self, method, path, body=None):
        place = self.address + (f"/session/{self.session}" if self.session else "") + path
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            place, data, {"Content-Type": "application/json"}, method=method
        )
        try:
            # Never by a proxy: this is loopback.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(request, timeout=60) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise Refused(json.load(error)["value"]) from error

    def open(self, address):
        self.call("POST", "/url", {"url": address})

    def place(self):
        return self.call("GET", "/url")

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def type(self, element, text):
        self.call("POST", f"/element/{element[ELEMENT]}/clear", {})
        self.call("POST", f"/element/{element[ELEMENT]}/value", {"text": text})

    def press(self, element):
        self.call("POST", f"/element/{element[ELEMENT]}/click", {})

    def close(self):
        self.call("DELETE", "")


class Refused(Exception):
    """WebDriver's error; `stale element reference` and the like are met by looking again."""

    def __init__(self, value):
        super().__init__(value["error"] + ": " + value["message"].splitlines()[0])


def origin(address):
    parts = urllib.parse.urlsplit(address)
    return parts.scheme, parts.netloc


def sit_at(driver, address, options, password):
    """Does what the pages ask for; the report."""
    driver.open(address)
    end = time.monotonic() + options.seconds
    said = logged_in = ""
    while time.monotonic() < end:
        try:
            place = driver.place()
            if origin(place) != origin(address):
                return {"outcome": "redirected", "address": place}
            next_step = driver.run(LOOK, options.deny)
            elements = next_step.get("on", [])
            said = next_step.get("text", said)
            if next_step["step"] == "pin":
                return {"outcome": "pin", "pin": next_step["text"]}
            if next_step["step"] == "login":
                if logged_in == place:
                    # The page takes its time, or the password was wrong.
                    time.sleep(0.3)
                driver.type(elements[0], options.user)
                driver.type(elements[1], password)
                driver.press(elements[2])
                logged_in = place
            elif next_step["step"] == "name":
                driver.type(elements[0], options.user)
                driver.press(elements[1])
            elif next_step["step"] == "press":
                for element in elements:
                    driver.press(element)
            elif options.explain:
                print(place, next_step, file=sys.stderr)
        except Refused as error:
            # The page moved on between a look and a press, or is not there yet.
            said = str(error)
        time.sleep(0.1)
    return {"outcome": "failed", "address": driver.place(), "said": said[:2000]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--user", required=True)
    parser.add_argument("--password-file")
    parser.add_argument("--report", required=True)
    parser.add_argument("--deny", action="store_true")
    parser.add_argument("--explain", action="store_true")
    parser.add_argument("--seconds", type=float, default=45)
    parser.add_argument("address")
    options = parser.parse_args()
    password = ""
    if options.password_file:
        with open(options.password_file) as file:
            password = file.read().rstrip("\n")
    report = {"outcome": "failed", "said": "the browser did not start"}
    try:
        with peer.folder() as place:
            log = place + "/chromedriver.log"
            # A home of its own: Chromium writes to it whatever its profile is.
            surroundings = {"PATH": os.environ["PATH"], "HOME": place, "TMPDIR": place}
            with peer.child(["chromedriver", "--port=0"], log, env=surroundings):
                port = []

                def started():
                    with open(log) as told:
                        port[:] = re.findall(r"started successfully on port (\d+)", told.read())
                    return bool(port)

                peer.until(started, 20, "chromedriver does not answer")
                driver = Driver(f"http://127.0.0.1:{port[0]}", place + "/profile")
                try:
                    report = sit_at(driver, options.address, options, password)
                finally:
                    driver.close()
    except Exception as error:
        report = {"outcome": "failed", "said": f"{type(error).__name__}: {error}"}
        raise
    finally:
        with open(options.report + ".part", "w") as file:
            json.dump(report, file)
        os.rename(options.report + ".part", options.report)


if __name__ == "__main__":
    main()
