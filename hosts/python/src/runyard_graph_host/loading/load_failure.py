"""Texts for the author out of what user code raises."""

import sysconfig
import traceback
from pathlib import Path

from ..protocol.errors import GraphLoadError, message_of

_SHOWN_FRAMES = 5
# Characters of a message: some errors carry a whole document.
_MESSAGE_MAX = 10_000
_OWN_FILES = str(Path(__file__).resolve().parents[1])
_STANDARD_LIBRARY = sysconfig.get_paths()["stdlib"]


def describe_load_failure(subject: str, error: BaseException, directory: Path) -> str:
    """Returns the exception with the user's part of its traceback, and with paths as the author has them."""
    if isinstance(error, GraphLoadError):
        return f"{subject} did not load: {error}"
    return _describe_failure(f"{subject} did not load", error, directory)


def describe_run_failure(error: BaseException, directory: Path) -> str:
    """Returns the same for code that has loaded. Never raises, whatever was raised."""
    try:
        return _describe_failure("The run failed", error, directory)
    except BaseException:
        return "The run failed with something that cannot be shown."


def _describe_failure(what: str, error: BaseException, directory: Path) -> str:
    lines = [f"{what}: {_describe(error)}", *_frames(error)]
    cause = error.__cause__ or error.__context__
    depth = 0
    while cause is not None and depth < 3:
        lines += [f"caused by {_describe(cause)}", *_frames(cause)]
        cause = cause.__cause__
        depth += 1
    return "\n".join(lines).replace(f"{directory}/", "")


def _describe(error: BaseException) -> str:
    parts = [f"{type(error).__name__}: {message_of(error)}", *getattr(error, "__notes__", [])]
    if isinstance(error, ModuleNotFoundError):
        parts.append(f"{error.name} is not installed in the environment of the project: is it among its requirements?")
    if isinstance(error, SyntaxError) and error.filename:
        parts.append(f'  File "{error.filename}", line {error.lineno}')
    text = "\n".join(parts)
    return text if len(text) <= _MESSAGE_MAX else f"{text[:_MESSAGE_MAX]}…"


def _frames(error: BaseException) -> list[str]:
    frames = [
        f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}'
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith((_OWN_FILES, _STANDARD_LIBRARY, "<")) and "site-packages" not in frame.filename
    ]
    return frames[-_SHOWN_FRAMES:]
