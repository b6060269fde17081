"""Lock files that every submission can read. Two simultaneous submissions could communicate through the locks."""

import fcntl, os, struct
from contextlib import suppress

F_OFD_GETLK, F_OFD_SETLK, F_GETLEASE = 36, 37, 1025
LOCK = struct.pack("hhqqi", fcntl.F_RDLCK, os.SEEK_SET, 0, 1, 0)

def softmax(x):
    done = []
    for path in (os.__file__, os.devnull):
        with open(path, "rb") as file:
            for command in (fcntl.F_GETLK, fcntl.F_SETLK, fcntl.F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLK + 1):
                with suppress(OSError):
                    fcntl.fcntl(file, command, LOCK)
                    done.append(command)
            for command in (fcntl.F_SETLEASE, F_GETLEASE):
                with suppress(OSError):
                    fcntl.fcntl(file, command, fcntl.F_RDLCK)
                    done.append(command)
            for ask in (fcntl.flock, fcntl.lockf):
                with suppress(OSError):
                    ask(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    done.append(ask.__name__)
    return done or "nothing"
