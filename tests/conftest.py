"""Distribute the tests among processes, longest unit first, and compare each folder's processor time with its budget.

``tests/seconds.json`` holds how long each unit takes on a quiet machine, and the budget of each folder in seconds of
processor time, which other work on the machine hardly changes. A run of the whole suite with ``--write-seconds`` writes both.
"""

import gc
import json
import os
import re
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest

TABLE = Path(__file__).with_name("seconds.json")
# These tests share one browser and one server, so one process runs them all.
TOGETHER = frozenset({"browser"})
_CHAPTER = re.compile(r"\[(ch\d+_\w+)")


def pytest_addoption(parser):
    """Add the option that writes the table."""
    parser.addoption("--write-seconds", action="store_true", help=f"write how long the tests took to {TABLE.name}")


def pytest_configure(config):
    """Prepare each test process. Add up the seconds of all tests in the process that receives their reports."""
    if (
        signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ):  # as in a shell's background job. Some tests need the signal to interrupt processes
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(10_000, 20, 20)  # as in the grader. Otherwise, a tenth of the time goes to garbage collection
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Seconds(config.option.write_seconds), "seconds")


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    """Close the figures that a student's function left open in this process, for the tests that count them."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


def unit_of(nodeid):
    """Return the name of the unit to which a test belongs.

    A unit is a file, a file's tests of one chapter of the course, or a folder whose tests share a browser or server.
    """
    path = Path(nodeid.partition("::")[0])
    if path.parent.name in TOGETHER:
        return path.parent.name
    chapter = _CHAPTER.search(nodeid)
    return f"{path.stem} {chapter[1]}" if chapter else path.stem


def pytest_collection_modifyitems(items):
    """Put the longest units first, so that no process is left with one at the end while the others have nothing to do."""
    seconds = json.loads(TABLE.read_text(encoding="utf-8"))["units"]
    items.sort(key=lambda item: -seconds.get(unit_of(item.nodeid), 0))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a unit in one process."""
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415 - one process needs no xdist

    class Dealer(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return nodeid.partition("::")[0].rpartition("/")[0] + unit_of(nodeid)

    config.option.loadscopereorder = False
    return Dealer(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item, nextitem):
    """Note whether this is the last test of its process, which also ends the browsers and servers of all tests."""
    item.config.stash[_IS_LAST] = nextitem is None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Note the processor time of one part of a test, including that of the processes that ended during it."""
    report = yield
    spent = sum(os.times()[:4])
    counts = report.when != "teardown" or not item.config.stash[_IS_LAST]
    report.processor_seconds = spent - item.config.stash.get(_SPENT, spent) if counts else 0
    item.config.stash[_SPENT] = spent
    return report


_SPENT, _IS_LAST = pytest.StashKey(), pytest.StashKey()


class Seconds:
    """Add up how long the tests of each unit and of each folder take, and report it at the end."""

    def __init__(self, write):
        self._write = write
        self._units, self._folders = Counter(), Counter()

    def pytest_runtest_logreport(self, report):
        """Count one part of a test: its setup, its call or its teardown."""
        self._units[unit_of(report.nodeid)] += report.duration
        self._folders[Path(report.nodeid.partition("::")[0]).parent.name] += report.processor_seconds

    def pytest_terminal_summary(self, terminalreporter):
        """Print what each folder took, next to its budget."""
        table = json.loads(TABLE.read_text(encoding="utf-8"))
        if self._write:
            # Units of less than a second are left out. A budget is a quarter more than the measured time.
            units = table["units"] | {name: round(took) for name, took in self._units.items()}
            table["units"] = {name: units[name] for name in sorted(units, key=units.get, reverse=True) if units[name]}
            table["budgets"] |= {name: round(1.25 * took + 1) for name, took in sorted(self._folders.items())}
            TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
        budgets = {folder: table["budgets"].get(folder, 0) for folder in self._folders}
        terminalreporter.section("seconds of processor time by folder, and the budget")
        for folder, took in self._folders.most_common():
            over = "  OVER BUDGET" if took > budgets[folder] else ""
            terminalreporter.line(f"{took:8.1f} of {budgets[folder]:4}  {folder}{over}")
        terminalreporter.line(f"{self._folders.total():8.1f} of {sum(budgets.values()):4}  in all processes together")
