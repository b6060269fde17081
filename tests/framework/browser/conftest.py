"""Fixtures for a real JupyterLab and Chromium, which all browser tests of a process share. Each test module has its own folder."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from autograder.course.course import Course, load_course
from autograder.extras.demo.demo_run import copy_course
from autograder.extras.site.build import build_site
from autograder.student.terminal.starting import STARTUP
from tests.support import ROOT
from tests.support.browser import browser_file

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
# Requests from a page, a worker or the browser can reach only this machine.
FLAGS += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]


def _chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("no Chromium was found: install the package `chromium` and run this again")


@pytest.fixture(scope="session")
def browser() -> Iterator[sync_api.Browser]:
    """One Chromium for all browser tests."""
    path = _chromium()
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield chromium
        chromium.close()


@dataclass(frozen=True)
class Lab:
    """A JupyterLab server, and the subfolder that contains a test's notebooks."""

    address: str
    folder: str

    def doc(self, path: str) -> str:
        """Return the address of a notebook in a new tab, without restoring earlier tabs."""
        return f"{self.address}/doc/tree/{self.folder}/{path}?reset"

    def tree(self, path: str) -> str:
        """Return the address of a notebook in JupyterLab, without restoring earlier tabs."""
        return f"{self.address}/lab/tree/{self.folder}/{path}?reset"


@pytest.fixture(scope="session")
def lab_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the one JupyterLab server that the browser tests share."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="session")
def lab_server(lab_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab server that serves ``lab_root``."""
    with serve(lab_root, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.fixture(scope="module")
def lab_folder(lab_root: Path, request: pytest.FixtureRequest) -> Path:
    """The module's folder in JupyterLab. A test fills it before it uses ``lab``."""
    folder = lab_root / request.path.stem
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def lab(lab_folder: Path, lab_server: str) -> Iterator[Lab]:
    """JupyterLab, with ``lab_folder`` as the folder of the tests. Its kernels end with the module."""
    yield Lab(lab_server, lab_folder.name)
    _end_kernels(lab_server)


def _end_kernels(server: str) -> None:
    """End all kernels of a server. Ignore the errors that occur if a page that was just closed ends the same kernels."""
    for _ in range(20):
        with suppress(urllib.error.HTTPError), urllib.request.urlopen(f"{server}/api/kernels", timeout=60) as answer:  # noqa: S310 - our own address
            kernels = json.load(answer)
            if not kernels:
                return
            for kernel in kernels:
                address = f"{server}/api/kernels/{kernel['id']}"
                urllib.request.urlopen(urllib.request.Request(address, method="DELETE"), timeout=60).close()  # noqa: S310 - as above
        time.sleep(0.2)
    pytest.fail("JupyterLab did not end its kernels.")


@contextmanager
def serve(folder: Path, home: Path) -> Iterator[str]:
    """Run a JupyterLab server in ``folder``, with its settings below ``home``, and yield its address."""
    _chromium()  # if there is no browser, no server is started
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "NBGRADER"))}
    folders = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime"}
    environment |= {name: str(home / folder) for name, folder in {**folders, "IPYTHONDIR": "ipython"}.items()}
    environment |= {"HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONSTARTUP": str(STARTUP)}  # as `start` does
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--ip=127.0.0.1", "--IdentityProvider.token=", "--ServerApp.password="]
    command += ["--ServerApp.disable_check_xsrf=True", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={folder}"]
    log = home / "lab.log"
    with log.open("w") as sink:
        server = subprocess.Popen(command, cwd=folder, env=environment, stdout=sink, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address, server, log)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(timeout=60)  # the server ends its kernels first
        except subprocess.TimeoutExpired:  # all pages were shown, so the server may be killed
            server.kill()
            server.wait()


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"{address}/api/status", timeout=2):  # noqa: S310 - our own address
            return
        with suppress(subprocess.TimeoutExpired):
            server.wait(timeout=0.2)
    pytest.fail(f"JupyterLab ended, or did not answer:\n{log.read_text()[-2000:]}")


@pytest.fixture
def page(browser: sync_api.Browser, lab: Lab) -> Iterator[sync_api.Page]:
    """A page that may connect only to the server."""
    with one_page(browser, lab.address, viewport={"width": 1200, "height": 1000}) as page:
        yield page


@contextmanager
def one_page(browser: sync_api.Browser, address: str, *, in_vain: str = "", **options: Any) -> Iterator[sync_api.Page]:
    """Yield a page that may connect only to the server at ``address``. The test fails if the page requests anything else.

    Addresses that start with ``in_vain`` are blocked without failing the test, because other projects' pages request them.
    """
    context = browser.new_context(**options)
    machine = "/".join(address.split("/")[:3])
    ours, others = (machine, "data:", "blob:"), []

    def pass_on(route: sync_api.Route) -> None:
        if route.request.url.startswith(ours):
            route.continue_()
        else:
            if not in_vain or not route.request.url.startswith(in_vain):
                others.append(route.request.url)
            route.abort()

    context.route("**/*", pass_on)
    page = context.new_page()
    # On a busy machine, JupyterLab may ask which kernel to start before it knows that there is only one.
    page.add_locator_handler(page.locator(".jp-Dialog"), lambda asked: asked.locator(".jp-mod-accept").click())
    try:
        yield page
    finally:
        context.close()
    assert others == []


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Do not log requests."""


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A copy of the course in a writable folder, in which endless loops are stopped sooner."""
    course = copy_course(load_course(ROOT), tmp_path_factory.mktemp("course"))
    with (course.root / "course_config.py").open("a") as config:
        config.write("c.Course.check_seconds = 3.0\n")
    return load_course(course.root)


@pytest.fixture(scope="session")
def site(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder and the address of a site with the whole course and its own Pyodide. The address is a subpath, as on many servers."""
    _chromium()
    served = tmp_path_factory.mktemp("served")
    made = build_site(course, served / "attention", pyodide=browser_file("pyodide"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=served))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield made, f"http://127.0.0.1:{server.server_port}/attention"
    server.shutdown()
