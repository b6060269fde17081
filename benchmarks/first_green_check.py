"""Measure how long a learner waits on the site of the course for the first green check, with all files in the browser's cache.

``python benchmarks/first_green_check.py`` builds a site of the first two chapters with its own Pyodide, and opens chapter 0 in
Chromium to fill the cache. Then it starts Chromium again with the same cache and opens the chapter. It inserts a correct
function, and runs the cells from the top until the card of the first exercise is green. As a calibration, it loads Pyodide
with NumPy in an empty page of the same site. ``--site FOLDER`` measures a site that was built before.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from clocks import row
from playwright.sync_api import BrowserContext, expect, sync_playwright
from simulated import HERE, course_in

from autograder.authoring.simulate import cell_source, reference_code
from autograder.course.course import load_course
from autograder.extras.site.build import build_site
from tests.support.browser import browser_file

CHAPTERS = ("ch0_orientation", "ch1_weighted_averaging")
EXERCISE = "normalize_rows"
TARGET = 20  # seconds, on a quiet machine
PARTS = {
    "page": "JupyterLab shows the notebook",
    "kernel": "Pyodide, NumPy and the student's package answer",
    "packages": "the cells above the exercise, which load Matplotlib",
    "check": "the cell with the function, and its check",
}
# These flags keep Chromium from resolving any host except this machine. Requests are not routed through the test driver, because
# this would turn the cache off.
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]

# This script runs in the page. It returns the seconds from ``started``, in seconds since the epoch, to the end of each part.
RUN = """async ([exercise, code, started]) => {
    const ends = {}, ended = (part) => { ends[part] = Date.now() / 1000 - started; };
    const until = async (found) => { while (!found()) await new Promise((go) => setTimeout(go, 20)); return found(); };
    const app = await until(() => window.jupyterapp);
    await app.restored;
    const panel = await until(() => app.shell.currentWidget?.content?.widgets?.length && app.shell.currentWidget);
    await panel.revealed;
    ended("page");
    await panel.sessionContext.ready;
    await (await until(() => panel.sessionContext.session?.kernel)).requestExecute({ code: "None" }).done;
    ended("kernel");
    const notebook = panel.content, sources = notebook.widgets.map((cell) => cell.model.sharedModel);
    const stub = sources.findIndex((cell) => cell.getSource().includes(`def ${exercise}(`));
    sources[stub].setSource(code);
    const check = sources.findIndex((cell) => cell.getSource() === `check(${exercise})`);
    for (let index = 0; index <= check; index++) {
        if (sources[index].cell_type !== "code") continue;
        if (index === stub) ended("packages");
        notebook.activeCellIndex = index;
        await app.commands.execute("notebook:run-cell");
    }
    ended("check");
    return ends;
}"""
PLAIN = """async (address) => {
    const started = performance.now();
    const { loadPyodide } = await import(address);
    const pyodide = await loadPyodide();
    await pyodide.loadPackage("numpy");
    pyodide.runPython("import numpy");
    return (performance.now() - started) / 1000;
}"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def served(site: Path) -> Iterator[str]:
    """Serve a site, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


@contextmanager
def chromium(profile: Path) -> Iterator[BrowserContext]:
    """Start Chromium with the cache in ``profile``, and yield its context."""
    path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(profile, executable_path=path, args=FLAGS)
        yield context
        context.close()


def first_green_check(profile: Path, address: str, code: str) -> dict[str, float]:
    """Open the first chapter in a new browser, and return the seconds until the end of each part. The last part ends with the first green card."""
    with chromium(profile) as context:
        page = context.new_page()
        page.set_default_timeout(600_000)
        started = time.time()
        page.goto(f"{address}/lab/index.html?path={CHAPTERS[0]}/{CHAPTERS[0]}.ipynb")
        page.wait_for_function(
            "() => window.jupyterapp && !location.search.includes('path=')"
        )  # JupyterLab changes the address of the page
        ends = page.evaluate(RUN, [EXERCISE, code, started])
        expect(page.locator(".ag-card.ag-good").filter(has_text=EXERCISE)).to_contain_text("Well done")
    return ends


def plain_pyodide(profile: Path, address: str) -> float:
    """Return the seconds until Pyodide has imported NumPy in an empty page of a new browser."""
    with chromium(profile) as context:
        page = context.new_page()
        page.goto(f"{address}/manifest.webmanifest")
        return float(page.evaluate(PLAIN, f"{address}/static/pyodide/pyodide.mjs"))


def main() -> None:
    """Measure, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--site", type=Path, help="a site that was built with --pyodide")
    options = parser.parse_args()
    course = load_course(HERE)
    code = cell_source(course, CHAPTERS[0], EXERCISE, reference_code(course, CHAPTERS[0])[EXERCISE])
    with tempfile.TemporaryDirectory() as folder:
        site = options.site or build_site(
            course_in(Path(folder) / "course", f"c.Course.chapters = {list(CHAPTERS)}"),
            Path(folder) / "site",
            pyodide=browser_file("pyodide"),
        )
        profile = Path(folder) / "profile"
        with served(site) as address:
            first_green_check(profile, address, code)
            plain_pyodide(profile, address)
            rounds = [first_green_check(profile, address, code) for _ in range(options.rounds)]
            plain = statistics.median(plain_pyodide(profile, address) for _ in range(options.rounds))
    ends = {part: statistics.median(one[part] for one in rounds) for part in rounds[0]}
    begins = dict(zip(ends, [0.0, *ends.values()], strict=False))
    for part, what in PARTS.items():
        row(f"  {part}: {what}", f"{ends[part] - begins[part]:.1f} s", "-")
    row("the first green check, from cached files", f"{ends['check']:.1f} s", f"≤ {TARGET} s on a quiet machine")
    row("Pyodide with NumPy alone (the calibration)", f"{plain:.1f} s", "-")
    row("the first green check, compared with it", f"{ends['check'] / plain:.1f}×", "-")
    print(f"load of the machine in the last minute: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
