"""What goes into the student's distribution: the modules that its verbs import, and the released course as data.

In a clone the modules are those that ``packaging/modules.py`` finds, and the course is what ``make wheel`` left in
``build/course``. A source distribution holds those files and no others, so there all of ``autograder/`` is taken.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class StudentFiles(BuildHookInterface):
    """Adds the files one by one, so that a module of the instructor's can only come along if a student's verb imports it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files for hatch; an editable install takes the whole clone instead."""
        if version == "editable":
            return
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
