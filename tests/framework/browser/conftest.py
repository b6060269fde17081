"""A real JupyterLab and a real Chromium: each test module gets its own folder, its own server and its own settings."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support import ROOT

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]


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


@pytest.fixture(scope="module")
def lab_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that JupyterLab shows; fill it before asking for ``lab``."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def lab(lab_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a JupyterLab server over ``lab_folder``."""
    _chromium()  # no server is started for a browser that is not there
    home = tmp_path_factory.mktemp("home")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("JUPYTER", "NBGRADER"))}
    folders = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data", "JUPYTER_RUNTIME_DIR": "runtime"}
    environment |= {name: str(home / folder) for name, folder in {**folders, "IPYTHONDIR": "ipython"}.items()}
    environment |= {"HOME": str(home), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--ip=127.0.0.1", "--IdentityProvider.token=", "--ServerApp.password="]
    command += [
        "--ServerApp.disable_check_xsrf=True",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={lab_folder}",
    ]
    log = home / "lab.log"
    with log.open("w") as sink:
        server = subprocess.Popen(command, cwd=lab_folder, env=environment, stdout=sink, stderr=subprocess.STDOUT)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(address, server, log)
        yield address
    finally:
        server.terminate()
        server.wait(timeout=30)


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and server.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"{address}/api/status", timeout=2):  # noqa: S310 - our own address
            return
        with suppress(subprocess.TimeoutExpired):
            server.wait(timeout=0.2)
    pytest.fail(f"JupyterLab ended, or did not answer:\n{log.read_text()[-2000:]}")


@pytest.fixture
def page(browser: sync_api.Browser, lab: str) -> Iterator[sync_api.Page]:
    """A page that may talk to the server and to nobody else."""
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    ours = (lab, "data:", "blob:")
    context.route("**/*", lambda route: route.continue_() if route.request.url.startswith(ours) else route.abort())
    page = context.new_page()
    # On a busy machine JupyterLab may ask which kernel to start, before it has heard that there is just one.
    page.add_locator_handler(page.locator(".jp-Dialog"), lambda asked: asked.locator(".jp-mod-accept").click())
    yield page
    context.close()
