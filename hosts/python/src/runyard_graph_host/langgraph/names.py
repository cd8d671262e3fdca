"""Keys by which LangGraph's own parts speak with each other. Its own server uses the same ones."""

CHECKPOINTER_KEY = "__pregel_checkpointer"
RUNTIME_KEY = "__pregel_runtime"
STREAM_KEY = "__pregel_stream"
TASK_ID_KEY = "__pregel_task_id"

ERROR = "__error__"
INTERRUPT = "__interrupt__"
RESUME = "__resume__"
ERROR_SOURCE = "__error_source_node__"
NULL_TASK_ID = "00000000-0000-0000-0000-000000000000"

# Channels that say what happened to a task rather than what it produced.
CONTROL_CHANNELS = frozenset((ERROR, ERROR_SOURCE, INTERRUPT, RESUME))

HIDDEN_TAG = "langsmith:hidden"
