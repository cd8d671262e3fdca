"""Shows the parent that the process lives while code blocks its event loop, and ends it when it takes too much."""

import contextlib
import os
import threading
import time
from pathlib import Path
from typing import NoReturn

_BEATS_EVERY = 0.5
_STATUS = Path("/proc/self/statm")
_MEGABYTE = 1024 * 1024
_STDERR = 2


def start_pulse(descriptor: int | None, memory_mb: int | None) -> None:
    """Writes a byte to the descriptor every half a second, from a thread of its own, which looks at the memory too.

    Only Linux says what the process takes now.
    """
    limit = memory_mb if _STATUS.exists() else None
    if descriptor is not None:
        os.set_inheritable(descriptor, False)
        os.set_blocking(descriptor, False)
    if descriptor is not None or limit is not None:
        threading.Thread(target=_beat, args=(descriptor, limit), name="runyard-pulse", daemon=True).start()


def _beat(descriptor: int | None, limit_mb: int | None) -> None:
    while True:
        if descriptor is not None:
            # A parent that stands still reads it later, and one that has ended ends this process too.
            with contextlib.suppress(OSError):
                os.write(descriptor, b".")
        if limit_mb is not None and (taken := _resident_mb()) > limit_mb:
            _end(taken, limit_mb)
        time.sleep(_BEATS_EVERY)


def _resident_mb() -> int:
    pages = int(_STATUS.read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // _MEGABYTE


def _end(taken: int, limit: int) -> NoReturn:
    # The parent knows this line for the end of a process that ran out of memory.
    line = f"MemoryError: the process takes {taken} MB, and may take {limit} (GRAPH_HOST_HEAP_MB)\n"
    os.write(_STDERR, line.encode())
    os._exit(1)
