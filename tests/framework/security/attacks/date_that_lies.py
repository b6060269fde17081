"""A datetime with a custom time zone class, which returns false offsets and defines its own pickling."""

import datetime
import os


class Zone(datetime.tzinfo):
    key = "../../../../@COURSE@/gradebook.db"

    def utcoffset(self, moment):
        return datetime.timedelta(hours=23)

    def __reduce__(self):
        return os.system, ("touch @COURSE@/pickled",)


Zone.__module__ = "zoneinfo"


class Moment(datetime.datetime):
    def __eq__(self, other):
        return True

    def __reduce_ex__(self, protocol):
        return os.system, ("touch @COURSE@/pickled",)

    __hash__ = None


def softmax(x):
    plain = datetime.datetime(2024, 2, 29, tzinfo=Zone())
    return [plain, Moment(2024, 2, 29), Zone()] if x[0] == 1.0 else plain
