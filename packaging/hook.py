"""Select the files of the student's distribution: the modules that its commands import, and the released course as data.

In a clone, ``packaging/modules.py`` finds the modules, and ``make wheel`` puts the course in ``build/course``. A source
distribution has only these files, so all of its ``autograder/`` is taken.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class StudentFiles(BuildHookInterface):
    """A build hook that adds the files one by one. An instructor's module is included only if a student's command imports it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """List the files for hatch. An editable install takes the whole clone instead."""
        if version == "editable":
            return
        points = self.metadata.core.entry_points  # all other entry points name the instructor's modules
        commands = points["autograder.commands"]
        points.clear()
        points["autograder.commands"] = {"watch": commands["watch"]}
        tree = Path(self.root)
        listing = tree / "packaging" / "modules.py"
        if listing.is_file():
            spec = importlib.util.spec_from_file_location("modules", listing)
            modules = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(modules)
            names = modules.student_files(tree)
            course = tree / "build" / "course"
        else:
            inside = (tree / "autograder").rglob("*")
            names = [p.relative_to(tree).as_posix() for p in inside if p.is_file() and "__pycache__" not in p.parts]
            course = None
        build_data["force_include"] |= {str(tree / name): name for name in names}
        if course is not None and course.is_dir():
            build_data["force_include"][str(course)] = "autograder/material"
