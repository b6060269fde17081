#!/usr/bin/env bash
# Run once by Gradescope, as root, when the image is built. Creates a virtual environment with the packages that grading needs.
set -euo pipefail
root="${AUTOGRADER_ROOT:-/autograder}"

usable() {
    "$1" -c 'import sys, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1
}

python=""
for candidate in python3 python3.12 python3.11 python3.13; do
    if usable "$candidate"; then python="$candidate"; break; fi
done
if [ -z "$python" ]; then
    apt-get update
    for version in 3.12 3.11 3.13; do
        if DEBIAN_FRONTEND=noninteractive apt-get install -y "python$version" "python$version-venv"; then
            python="python$version"; break
        fi
    done
fi
if [ -z "$python" ]; then
    echo "No Python 3.11, 3.12 or 3.13 can be installed on this image: choose a newer Ubuntu in Gradescope's settings." >&2
    exit 1
fi
"$python" -m venv "$root/source/.venv"
"$root/source/.venv/bin/python" -m pip install --no-cache-dir --disable-pip-version-check -r "$root/source/requirements.txt"
# Students' code must never read these folders. The sandbox already prevents it. This is a second protection.
chmod -R go-rwx "$root/source/course" "$root/source/secret"
