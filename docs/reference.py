"""Take reference texts for the site from the code: settings from their traits, and pages of the repository's top."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traitlets import Dict, Enum, Instance, List, TraitType
from traitlets.config import Configurable

from autograder.course.course import load_course
from autograder.extras.config import settings_of

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["configurables", "fill", "settings", "traits_of"]

ROOT = Path(__file__).resolve().parent.parent
# Comments in a page, which code hosting sites do not show.
SETTINGS = "<!-- settings -->"
ADOPTED = re.compile(r"<!-- page: ([A-Z]+\.md) -->")
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]+)(#[^)]*)?\)")


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace a page's comments with the texts that they name."""
    del app, page
    text = source[0]
    if SETTINGS in text:
        text = text.replace(SETTINGS, settings())
    text = ADOPTED.sub(lambda found: _adopted(ROOT / found[1]), text)
    source[0] = LINK.sub(_within_the_site, text)


# --- settings ------------------------------------------------------------------------------------------------------


def configurables() -> list[type[Configurable]]:
    """Return the framework's classes with settings, beginning with the course."""
    found = {}
    for path in sorted((ROOT / "autograder").rglob("*.py")):
        # Code in the sandbox has no settings. Only modules that may have some are imported.
        if "guest" in path.parts or "config=True" not in path.read_text(encoding="utf-8"):
            continue
        module = importlib.import_module(
            ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        )
        for thing in vars(module).values():
            if isinstance(thing, type) and issubclass(thing, Configurable) and thing.__module__ == module.__name__:
                found[thing.__name__] = thing
    return sorted((c for c in found.values() if traits_of(c)), key=lambda c: (c.__name__ != "Course", c.__name__))


def traits_of(configurable: type[Configurable]) -> dict[str, TraitType[Any, Any]]:
    """Return the settings that a class defines itself, in the order of its code."""
    own = vars(configurable)
    return {name: own[name] for name in own if isinstance(own[name], TraitType) and own[name].metadata.get("config")}


def settings() -> str:
    """Return every setting as Markdown, with its name, type, default and help."""
    lines = [line for configurable in configurables() for line in _section(configurable)]
    lines += ["## Settings of nbgrader and environment variables", ""]
    for setting in settings_of(load_course(ROOT)):
        if not setting.name.startswith("c.Course."):
            lines += [f"### {setting.name}", "", f"The default is `{setting.default!r}`.", "", setting.help, ""]
    return "\n".join(lines)


def _section(configurable: type[Configurable]) -> Iterator[str]:
    name = configurable.__name__
    yield from (f"## c.{name}", "", _sentence(configurable.__doc__ or ""), "")
    if name != "Course":
        yield from (f"Its name in nbgrader is `{configurable.__module__}.{name}`.", "")
    for trait_name, trait in traits_of(configurable).items():
        yield from (f"### c.{name}.{trait_name}", "")
        yield from (f"{_takes(trait)}. The default is `{trait.default()!r}`.", "", trait.help, "")


def _sentence(docstring: str) -> str:
    return re.sub(r"``([^`]*)``", r"`\1`", " ".join(docstring.partition("\n\n")[0].split()))


def _takes(trait: TraitType[Any, Any]) -> str:
    if isinstance(trait, Enum):
        return "One of " + ", ".join(f"`{value!r}`" for value in trait.values or ())
    if isinstance(trait, List):
        return "A list"
    if isinstance(trait, Dict):
        return "A dictionary"
    if isinstance(trait, Instance):
        return f"A `{trait.klass}`"
    known = {"Bool": "`True` or `False`", "Float": "A number", "Integer": "A whole number", "Unicode": "A string"}
    return known.get(type(trait).__name__, f"A `{type(trait).__name__}`")


# --- pages of the repository's top ---------------------------------------------------------------------------------


def _adopted(path: Path) -> str:
    """Return a page of the top folder without its title, with links that work on the site."""
    body = path.read_text(encoding="utf-8").partition("\n")[2]
    return LINK.sub(_moved, body)


def _moved(link: re.Match[str]) -> str:
    text, target, anchor = link[1], link[2], link[3] or ""
    if re.match(r"[a-z]+:", target):
        return link[0]
    return f"[{text}]({target.removeprefix('docs/') if target.startswith('docs/') else f'../{target}'}{anchor})"


def _within_the_site(link: re.Match[str]) -> str:
    """Replace a link to a file outside docs/, which works on a code host but not on the site, by the file's name or its page here."""
    text, target, anchor = link[1], link[2], link[3] or ""
    if not target.startswith("../"):
        return link[0]
    path = target.removeprefix("../")
    return (
        f"[{text}]({PAGES[path]}{anchor})" if path in PAGES else f"{text} (`{path}`)" if text != path else f"`{path}`"
    )
