"""Keeps one run's misbehaviour from ending other runs, and the process from outliving its parent."""

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any


class ProcessExitError(Exception):
    """The project tried to end the process, which all runs share."""

    def __init__(self, cause: BaseException) -> None:
        call = f"sys.exit({cause.args[0]!r})" if cause.args else "sys.exit()"
        what = call if isinstance(cause, SystemExit) else type(cause).__name__
        super().__init__(f"The project called {what}, which would end every run of this process")


def guard_signals(warn: Callable[[str], None]) -> None:
    """Leaves signals to the parent: those of a terminal do nothing here, and user code cannot take them."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _ignore)
    warned: set[int] = set()

    def refuse(number: int, _handler: Any, /) -> Any:
        if number not in warned:
            warned.add(number)
            name = signal.Signals(number).name
            warn(f"signal.signal({name}, …) has no effect here: the platform decides when the process ends")
        return signal.getsignal(number)

    signal.signal = refuse  # type: ignore[assignment] # Handlers have many types.


def end_with_parent() -> None:
    """Ends this process when its parent ends.

    The closed connection does so too, unless user code keeps the event loop busy.
    """
    if sys.platform == "linux":
        _ask_kernel_for_death()
    else:
        threading.Thread(target=_watch_parent, args=(os.getppid(),), name="runyard-parent", daemon=True).start()


def _ask_kernel_for_death() -> None:
    set_parent_death_signal = 1
    ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGKILL)


def _ignore(_number: int, _frame: object) -> None:
    return
