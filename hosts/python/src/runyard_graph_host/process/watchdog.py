"""Notices code that keeps the event loop busy, and tells its author where that is."""

import asyncio
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

_LOOKS_EVERY = 0.5
# Seconds without a turn of the loop after which its code is said to block it.
_BLOCKED_AFTER = 1.0
_OWN_FILES = str(Path(__file__).resolve().parents[1])
_STANDARD_LIBRARY = sysconfig.get_paths()["stdlib"]


class Watchdog:
    """Looks from a thread of its own at when the loop last turned, while there is work."""

    def __init__(self, loop: asyncio.AbstractEventLoop, warn: Callable[[str], None]) -> None:
        self._loop = loop
        self._warn = warn
        self._loop_thread = threading.get_ident()
        self._turned_at = time.monotonic()
        self._works = threading.Event()
        self._told: set[str] = set()
        threading.Thread(target=self._look, name="runyard-watchdog", daemon=True).start()

    def watch(self, *, is_working: bool) -> None:
        """Is called on the loop when work begins, and when none is left."""
        if is_working:
            self._turn()
            self._works.set()
        else:
            self._works.clear()

    def _turn(self) -> None:
        self._turned_at = time.monotonic()

    def _look(self) -> None:
        while True:
            self._works.wait()
            try:
                self._loop.call_soon_threadsafe(self._turn)
            except RuntimeError:
                # The loop has ended.
                return
            time.sleep(_LOOKS_EVERY)
            if self._works.is_set() and time.monotonic() - self._turned_at > _BLOCKED_AFTER:
                self._tell()

    def _tell(self) -> None:
        frame = sys._current_frames().get(self._loop_thread)
        place = None if frame is None else _place_of(frame)
        if place is None or place in self._told:
            return
        self._told.add(place)
        self._warn(
            f"The project blocks its event loop at {place}. Other runs of this process wait; "
            "await what takes long, or make the function a plain `def`, which runs in a thread."
        )


def _place_of(frame: FrameType | None) -> str | None:
    """Returns the innermost place in the author's own files, with what it calls."""
    called: str | None = None
    while frame is not None:
        file = frame.f_code.co_filename
        is_own = file.startswith((_OWN_FILES, _STANDARD_LIBRARY, "<"))
        if not is_own and "site-packages" not in file:
            where = f"{file}:{frame.f_lineno} in {frame.f_code.co_name}"
            return where if called is None else f"{where}, by {called}"
        called = frame.f_code.co_name
        frame = frame.f_back
    return None
