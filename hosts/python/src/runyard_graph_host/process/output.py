"""Sends what user code prints and logs to the parent, with the run, thread and graph that printed it.

It never blocks, and buffers a limited amount.
"""

import io
import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import orjson

from .current_run import ids_of_current_run

Line = dict[str, Any]
Send = Callable[[Line], None]
CallLater = Callable[[float, Callable[[], None]], None]

# Characters of the longest line; a longer one is cut.
_MAX_LINE_LENGTH = 16 * 1024
_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"))
_RECORD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class OutputBudget:
    """Limits output per second. It counts the lines that do not fit, and reports their number after the second."""

    def __init__(self, bytes_per_second: int, call_later: CallLater, on_dropped: Callable[[int], None]) -> None:
        self._bytes_per_second = bytes_per_second
        self._call_later = call_later
        self._on_dropped = on_dropped
        self._left = bytes_per_second
        self._dropped = 0
        self._is_counting = False
        self._lock = threading.Lock()

    def take(self, length: int) -> bool:
        """Returns whether a line of this length still fits; counts it as dropped otherwise."""
        with self._lock:
            if not self._is_counting:
                self._is_counting = True
                self._call_later(1, self._renew)
            self._left -= length
            if self._left < 0:
                self._dropped += 1
            return self._left >= 0

    def _renew(self) -> None:
        with self._lock:
            dropped, self._dropped = self._dropped, 0
            self._left = self._bytes_per_second
            self._is_counting = False
        if dropped:
            self._on_dropped(dropped)


class Output:
    """The one way by which lines of user code reach the parent."""

    def __init__(self, send: Send, bytes_per_second: int, call_later: CallLater) -> None:
        self._send = send
        self._budget = OutputBudget(bytes_per_second, call_later, self._report_dropped)

    def print(self, level: str, message: str, data: dict[str, Any] | None = None) -> None:
        encoded = _encode_fields(data) if data else None
        if not self._budget.take(len(message) + (len(encoded) if encoded else 0)):
            return
        line: Line = {"level": level, "message": cut(message), **ids_of_current_run()}
        if encoded:
            line["data"] = orjson.loads(encoded)
        self._send(line)

    def _report_dropped(self, lines: int) -> None:
        self._send({"level": "warn", "message": f"{lines} lines of output were dropped: too much per second"})


class LineStream(io.TextIOBase):
    """A text stream whose lines are log lines. Each thread's unfinished line is its own."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, level: str, output: Output, fileno: int) -> None:
        self._level = level
        self._output = output
        self._fileno = fileno
        self._rest = threading.local()

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        lines = (getattr(self._rest, "text", "") + text).split("\n")
        rest = lines.pop()
        if len(rest) > _MAX_LINE_LENGTH:
            lines.append(rest)
            rest = ""
        self._rest.text = rest
        for line in lines:
            if line.strip():
                self._output.print(self._level, line)
        return len(text)

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        """Does nothing: a line is sent when it ends."""

    def fileno(self) -> int:
        return self._fileno

    def isatty(self) -> bool:
        return False

    @property
    def buffer(self) -> "_Buffer":
        return _Buffer(self)


class _Buffer(io.RawIOBase):
    """Takes bytes where code writes to `sys.stdout.buffer`."""

    def __init__(self, stream: LineStream) -> None:
        self._stream = stream

    def write(self, data: Any) -> int:
        self._stream.write(bytes(data).decode("utf-8", "replace"))
        return len(data)

    def writable(self) -> bool:
        return True


class _LogHandler(logging.Handler):
    def __init__(self, output: Output) -> None:
        super().__init__()
        self._output = output

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
            if record.exc_info:
                message = f"{message}\n{(self.formatter or logging.Formatter()).formatException(record.exc_info)}"
            fields = {key: value for key, value in vars(record).items() if key not in _RECORD_FIELDS}
            self._output.print(level_of(record.levelno), message, {"logger": record.name, **fields})
        except Exception:
            self.handleError(record)


def capture_output(output: Output) -> None:
    """Makes prints, log records and warnings lines of `output`."""
    sys.stdout = LineStream("info", output, 1)
    sys.stderr = LineStream("error", output, 2)
    root = logging.getLogger()
    root.handlers[:] = [_LogHandler(output)]
    root.setLevel(logging.INFO)
    # These tell about each request, as no server of LangGraph does.
    for name in ("httpx", "httpcore", "asyncio"):
        logging.getLogger(name).setLevel(logging.WARNING)

    def show(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object, **__: object
    ) -> None:
        output.print("warn", f"{filename}:{lineno}: {category.__name__}: {message}")

    warnings.showwarning = show


def describe_exception(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)).rstrip()


def level_of(number: int) -> str:
    return next((level for least, level in _LEVELS if number >= least), "debug")


def cut(line: str) -> str:
    return line if len(line) <= _MAX_LINE_LENGTH else f"{line[:_MAX_LINE_LENGTH]}…"


def _encode_fields(fields: dict[str, Any]) -> bytes:
    """Returns JSON text of an object for fields of any kind: a log line must not end a run."""
    try:
        encoded = orjson.dumps(fields, default=repr, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:
        return b'{"left_out":"no JSON"}'
    return encoded if len(encoded) <= _MAX_LINE_LENGTH else b'{"left_out":"too much"}'
