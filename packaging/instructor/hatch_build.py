"""Select the files of the instructor's distribution: every module of ``autograder/`` that the student's does not have."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class InstructorFiles(BuildHookInterface):
    """A build hook that takes the files from the surrounding clone. A source distribution contains them itself."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """List the files for hatch."""
        del version
        here = Path(self.root)
        if (here / "autograder").is_dir():
            tree = here
            names = [p.relative_to(tree).as_posix() for p in (tree / "autograder").rglob("*") if p.is_file()]
        else:
            tree = here.parents[1]
            spec = importlib.util.spec_from_file_location("modules", tree / "packaging" / "modules.py")
            modules = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(modules)
            names = modules.instructor_files(tree)
            if self.target_name == "sdist":
                build_data["force_include"][str(tree / "LICENSE")] = "LICENSE"
        build_data["force_include"] |= {str(tree / name): name for name in names}
