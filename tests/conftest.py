"""How the tests are dealt out to processes: what was prepared at some cost is used where it is, and the longest comes first."""

import re

import pytest

# So that no process is left with a long file at the end while the others have nothing to do.
LONGEST_FIRST = (
    "test_truth",
    "test_an_evening",
    "test_same_verdict",
    "test_attacks_in_a_class",
    "test_nbgraders_own",
    "test_quickstart",
    "test_stock_loop",
    "test_postgres",
    "test_demo",
    "test_docs",
    "test_secrets",
    "test_interruptions",
    "test_one_judge",
    "test_attacks",
    "test_mistakes",
    "test_cli",
    "test_same_words",
    "test_cluster",
    "test_a_chapter_in_lab",
    "test_selfcheck_in_lab",
    "test_readme_pictures",
    "test_audit",
)
_CHAPTER = re.compile(r"\[(ch\d+_\w+)")


def pytest_collection_modifyitems(items):
    """Put the longest files first, and the others in the order in which they were found."""
    places = {name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep a file's tests in one process, or where they are about a chapter of the course, the file's tests of that chapter."""
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415 - one process needs no xdist

    class Dealer(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            chapter = _CHAPTER.search(nodeid)
            return nodeid.split("::")[0] + (chapter[1] if chapter else "")

    config.option.loadscopereorder = False
    return Dealer(config, log)
