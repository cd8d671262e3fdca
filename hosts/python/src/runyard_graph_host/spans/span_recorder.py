"""Records the spans of one run and sends them to the parent in batches.

What is kept and sent is limited: a graph that loops for days must not fill the memory of its host, nor that of its
parent. Spans begin and end in any thread.
"""

import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

from ..protocol.connection import HostConnection

Attributes = dict[str, Any]

# Spans of one attempt that are sent; later ones are counted.
_SPANS_MAX = 2_000
# Characters of content that spans of one attempt carry, all together.
_CONTENT_MAX = 4 * 1024 * 1024
_BATCH_MAX = 64
# Seconds that an ended span waits for others: so much is missing from the trace when the process is killed.
_BATCH_AFTER = 0.2
# What the clock showed when the counter that never goes back was at zero.
_ORIGIN = time.time() - time.perf_counter()


class SpanRecorder:
    def __init__(self, connection: HostConnection, use: int, *, with_content: bool) -> None:
        self._connection = connection
        self._use = use
        self._with_content = with_content
        self._open: dict[str, OpenSpan] = {}
        self._ended: list[dict[str, Any]] = []
        self._sent = 0
        self._content_left = _CONTENT_MAX
        self._is_sending_later = False
        self._lock = threading.Lock()
        # The number of spans left out so far.
        self.dropped = 0

    def start(self, name: str, kind: str, parent_span_id: str, attributes: Attributes) -> "OpenSpan":
        span = OpenSpan(self, {"parentSpanId": parent_span_id, "name": name, "kind": kind}, dict(attributes))
        with self._lock:
            self._open[span.span_id] = span
        return span

    def close(self) -> None:
        """Ends the spans that are open still: the run stopped in the middle of them. Sends everything."""
        for span in reversed(list(self._open.values())):
            span.attributes["runyard.span.is_cut"] = True
            if self.dropped:
                span.attributes["runyard.run.dropped_spans"] = self.dropped
            span.end()
        self._send()

    def take_content(self, make_text: Callable[[], str | None]) -> str | None:
        """Returns the text while there is room for it."""
        if not self._with_content or self._content_left <= 0:
            return None
        text = make_text()
        self._content_left -= len(text or "")
        return text

    def add(self, span_id: str, document: dict[str, Any]) -> None:
        with self._lock:
            if self._open.pop(span_id, None) is None:
                return
            # The last one to end is the one that all others are below: it is always sent.
            if self._sent + len(self._ended) >= _SPANS_MAX and self._open:
                self.dropped += 1
                return
            self._ended.append(document)
            is_full, is_first = len(self._ended) >= _BATCH_MAX, not self._is_sending_later
            self._is_sending_later = True
        if is_full:
            self._connection.from_thread(self._send)
        elif is_first:
            self._connection.call_later(_BATCH_AFTER, self._send)

    def _send(self) -> None:
        with self._lock:
            spans, self._ended = self._ended, []
            self._sent += len(spans)
            self._is_sending_later = False
        if spans:
            self._connection.send(self._use, {"t": "run.spans", "use": self._use, "spans": spans})


class OpenSpan:
    """A span that has begun."""

    def __init__(self, recorder: SpanRecorder, fields: dict[str, Any], attributes: Attributes) -> None:
        self.span_id = secrets.token_hex(8)
        self.attributes = attributes
        self._recorder = recorder
        self._fields = {"spanId": self.span_id, **fields, "startMs": _now()}

    def set_content(self, name: str, make_text: Callable[[], str | None]) -> None:
        """Adds an attribute that is content, while there is room for it."""
        text = self._recorder.take_content(make_text)
        if text is not None:
            self.attributes[name] = text

    def end(self, error: dict[str, str] | None = None) -> None:
        failed = {} if error is None else {"error": error}
        document = {**self._fields, "endMs": _now(), "attributes": self.attributes, **failed}
        self._recorder.add(self.span_id, document)


def _now() -> float:
    """Returns milliseconds since 1970, with fractions, that never go back."""
    return (_ORIGIN + time.perf_counter()) * 1000
