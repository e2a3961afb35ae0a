# SPDX-License-Identifier: GPL-2.0-only
"""A Chromium without a window, driven by the WebDriver protocol (W3C)."""
import base64
import json
import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

# No address but this machine's own is found, and root needs Chromium without its sandbox.
ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1500,1000",
             "--force-device-scale-factor=1", "--host-resolver-rules=MAP * ~NOTFOUND",
             "--disable-dev-shm-usage"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Browser:
    """To be used in a with statement, at whose end Chromium ends."""

    def __init__(self):
        port = free_port()
        self.profile = tempfile.TemporaryDirectory()
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "HOME": self.profile.name})
        self.wait_for_driver()
        options = {"args": [*ARGUMENTS, f"--user-data-dir={self.profile.name}"]}
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += "/session/" + session["sessionId"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.profile.cleanup()

    def wait_for_driver(self):
        for _ in range(600):
            try:
                self.call("GET", "/status")
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("chromedriver does not answer")

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.base + path, method=method, headers={"Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:2000]) from error

    def open(self, path):
        self.call("POST", "/url", {"url": "file://" + os.path.realpath(path)})

    def run(self, text, *arguments):
        """Runs JavaScript, and returns what it returns."""
        return self.call("POST", "/execute/sync", {"script": text, "args": arguments})

    def wait(self, text, *arguments):
        """The same, which returns what the promise TEXT becomes."""
        text = f"const done = arguments[arguments.length - 1]; ({text}).then(done);"
        return self.call("POST", "/execute/async", {"script": text, "args": arguments})

    def press(self, keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys",
                                                     "actions": actions}]})

    def point(self, x, y, click=False, wheel=0):
        """Moves the pointer to a place, and perhaps clicks or turns the wheel there."""
        actions = [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
                    "actions": [{"type": "pointerMove", "x": x, "y": y, "duration": 0}]
                    + ([{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
                       if click else [])}]
        self.call("POST", "/actions", {"actions": actions})
        if wheel:
            self.call("POST", "/actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [
                {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": wheel}]}]})

    def errors(self):
        """Returns what the page has written to the console since the last call."""
        return [line["message"] for line in self.call("POST", "/se/log", {"type": "browser"})]

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", "/screenshot")))
