"""Time zones named after devices and files, in built-in values and tables, in every notation that a library accepts."""

NAMES = [
    "dateutil//proc/kmsg", "dateutil//dev/zero", "/proc/kmsg", "../../../../proc/kmsg", "dateutil/@COURSE@/gradebook.db", "tzlocal()",
    "pytz/UTC", "posix//proc/kmsg", "UTC+99:99", "localtime/../../../proc/kmsg",
]  # fmt: skip
FORGED = [
    *(["T", ["t", "moment", "ns", 0, name]] for name in NAMES),
    *(["zone", name] for name in NAMES),
    *(["datetime", 2024, 5, 1, 0, 0, 0, 0, 0, ["zone", name]] for name in NAMES),
]
# @RETURN FORGED@
