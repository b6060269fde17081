"""Time zones that are devices and files: in plain values and in tables, by every way in which a library looks one up."""

import guest.wire as wire
import guest.runner as runner

NAMES = [
    "dateutil//proc/kmsg", "dateutil//dev/zero", "/proc/kmsg", "../../../../proc/kmsg", "dateutil/@COURSE@/gradebook.db", "tzlocal()",
    "pytz/UTC", "posix//proc/kmsg", "UTC+99:99", "localtime/../../../proc/kmsg",
]  # fmt: skip
FORGED = [
    *(["T", ["t", "moment", "ns", 0, name]] for name in NAMES),
    *(["zone", name] for name in NAMES),
    *(["datetime", 2024, 5, 1, 0, 0, 0, 0, 0, ["zone", name]] for name in NAMES),
]
calls = []


def packed(value, *_rest):
    calls.append(value)
    return wire.pack({"value": FORGED[len(calls) % len(FORGED)], "changed": []})


runner.pack_array = packed


def softmax(x):
    return x
