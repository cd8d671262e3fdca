import type { ErrorEntry } from './entry.ts';

/** Errors of agent servers: agent-api, the run engine and the project's code. */
export const AGENT_SERVER_ERRORS = {
  deployment_halted: {
    status: 503,
    meaning:
      'Somebody has halted the deployment, its workspace or its organization; the message has the reason. Nothing was done.',
    remedy: 'Wait, or resume it: `runyard deploy resume`, once the reason is gone.',
  },
  budget_exhausted: {
    status: 402,
    meaning: 'A budget of the deployment is used up for this period, and is set to refuse with 402. Nothing was done.',
    remedy: 'Wait for the next period, which the message names, or raise the budget.',
    refusal: 'budget',
  },
  budget_exhausted_for_now: {
    status: 429,
    meaning: 'A budget of the deployment is used up for this period, and is set to refuse with 429. Nothing was done.',
    remedy: 'Wait for the next period, in `Retry-After` seconds, or raise the budget.',
    refusal: 'budget',
  },
  thread_or_assistant_not_found: {
    status: 404,
    meaning: 'The thread or the assistant of a new run is unknown.',
    remedy: '`if_not_exists: "create"` makes the thread.',
  },
  assistant_invalid: {
    status: 422,
    meaning: 'The value is neither an assistant id nor a graph of the project.',
    remedy: 'Take one of the graphs that the message lists.',
  },
  webhook_refused: {
    status: 422,
    meaning:
      'The URL of the webhook is malformed, means this machine or a private network, or has a name that does not exist.',
    remedy: 'Name a public one, or set `OUTBOUND_ALLOWED_NETWORKS` for receivers in your own network.',
  },
  webhook_content_deleted: {
    status: 409,
    meaning: 'What a webhook was to send is no longer stored: it was delivered, or its run or thread was deleted.',
    remedy: 'Read the run.',
  },
  graph_failed: {
    status: 422,
    meaning: "The graph's own code threw while it read or wrote state.",
    remedy: 'Correct the graph: the message is that of its error.',
  },
  values_search_too_slow: {
    status: 422,
    meaning: 'A search by `values` took too long.',
    remedy: 'Narrow it by ids, metadata, status or times.',
  },
  worker_token_invalid: {
    status: 401,
    meaning: "A request of the project's own code to its server does not have the deployment's token.",
    remedy: 'Give agent-api and run-worker of a deployment the same settings.',
  },
  project_user_invalid: {
    status: 401,
    meaning: "A request of the project's own code to its server names a user that cannot be read.",
    remedy: 'Give agent-api and run-worker of a deployment the same release.',
  },
  project_user_unknown: {
    status: 401,
    meaning:
      'Code of a project with users of its own calls its server by `LANGGRAPH_API_URL`, outside of every run and request.',
    remedy:
      'Send credentials of a user with the call, or use an SDK client without a URL, which has the rights of the project.',
  },
  default_assistant_protected: {
    status: 403,
    meaning: "A graph's default assistant cannot be deleted.",
    remedy: 'Remove the graph from the project.',
  },
  store_namespace_forbidden: {
    status: 403,
    meaning: 'The namespace is outside of what the caller may use in the store.',
    remedy: 'Use a namespace of the caller.',
  },
  user_unauthenticated: {
    status: 401,
    meaning: "The project's own authentication does not know the caller.",
    remedy: 'Send the credentials that the project asks for.',
  },
  refused_by_project: {
    status: 403,
    meaning: "A handler of the project's `Auth` object refused, with a status and message of its own.",
    remedy: 'The message is of the project.',
  },
  denied_by_project: {
    status: 403,
    meaning: "The project's authorization does not let the user do this.",
    remedy: 'Ask the author of the project.',
  },
  mcp_origin_refused: {
    status: 403,
    meaning:
      'A page of an origin that the deployment does not name calls `/mcp`, or a program of the same machine by a foreign host name.',
    remedy:
      'Name the origin in `http.cors.allow_origins`, or in `CORS_ALLOW_ORIGINS` (`*` names none here); a proxy on the same machine belongs into `TRUSTED_PROXIES` of the gateway.',
  },
  websocket_origin_refused: {
    status: 403,
    meaning:
      'A page of an origin that the deployment does not name opens a websocket with a cookie or a password that its browser adds.',
    remedy: 'Name the origin in `http.cors.allow_origins`, or in `CORS_ALLOW_ORIGINS` (`*` names none here).',
  },
  metadata_out_of_scope: {
    status: 403,
    meaning: 'With these metadata the caller could not see what it creates or changes.',
    remedy: "Send metadata that fit the filter of the project's authorization handler.",
  },
  assistant_exists: {
    status: 409,
    meaning: 'There is an assistant with this id.',
    remedy: 'Take another id, or `if_exists: "do_nothing"`.',
  },
  thread_exists: {
    status: 409,
    meaning: 'There is a thread with this id.',
    remedy: 'Take another id, or `if_exists: "do_nothing"`.',
  },
  thread_copy_source_missing: {
    status: 409,
    meaning: 'The thread to copy does not exist.',
    remedy: 'Compare the id with the list of threads.',
  },
  thread_busy: {
    status: 409,
    meaning: 'A run of the thread is in flight, and `multitask_strategy` is `reject`.',
    remedy: 'Wait, or choose another strategy.',
  },
  thread_has_runs_in_flight: {
    status: 409,
    meaning: 'State is to be written to a thread with runs that are pending or running.',
    remedy: 'Join or cancel them first.',
  },
  thread_taken_over: {
    status: 409,
    meaning:
      'A run or another update began, or the thread was pruned, before the state was written. The thread has nothing of it.',
    remedy: 'Read the state and write again.',
  },
  runs_changed_concurrently: {
    status: 409,
    meaning: 'Others change the same runs at the same time. Nothing was changed.',
    remedy: 'Send the request again.',
  },
  list_too_large: {
    status: 413,
    meaning: 'What the list has is more than one answer may hold.',
    remedy: 'Use a smaller limit, or select fewer fields.',
  },
  state_too_large: {
    status: 413,
    meaning: 'A checkpoint or an item of the store is larger than 250 MiB, or more than Postgres takes.',
    remedy: 'Store less in one thread or item, for example a reference to a file.',
  },
  feedback_full: {
    status: 429,
    meaning: 'The run has as much feedback on this key as is stored.',
    remedy: 'Use another key.',
  },
  too_many_waiting_runs: {
    status: 429,
    meaning: '`THREAD_WAITING_RUNS_MAX` runs wait on the thread. The run was not created; a cron skips the slot.',
    remedy: 'Wait for some to end, or cancel them; `multitask_strategy` says what a new run does with earlier ones.',
  },
  embedding_failed: {
    status: 502,
    meaning:
      "The project's embeddings threw, gave no vectors of `dims` numbers, or took longer than a minute. Nothing was written.",
    remedy: "Read their message; check the model's service and key.",
  },
  thread_held: {
    status: 503,
    meaning: 'Another transaction has held the thread for 5 s, or a deleted thread with its id is still being removed.',
    remedy: 'Send the request again; if it lasts, `pg_stat_activity` says who.',
    refusal: 'database',
  },
  state_unavailable: {
    status: 503,
    meaning: 'The state of a thread could not be read or written while a graph used it.',
    remedy: 'Look at Postgres.',
  },
  data_undecryptable: {
    status: 503,
    meaning:
      'A key of `LANGGRAPH_AES_KEY` was removed, or replaced instead of put before the old one; or the handlers of `encryption.path` do not decrypt the data key or the value, or are gone. Only data encrypted with it is affected; lists show `{"__error__": …}` in its place.',
    remedy:
      'Put the old key behind the new one, separated by a comma; or look for `project encryption failed` in the log, which says why. If the key is lost, delete the undecryptable data.',
  },
  encryption_unavailable: {
    status: 503,
    meaning:
      'A handler of `encryption.path` threw, took longer than 5 s, or returned nonsense when it was asked for the context of a request, or to encrypt a data key or values of JSON. Nothing was written.',
    remedy: 'Read the log lines `project encryption failed`, and those with `from: project`.',
  },
  stream_unavailable: {
    status: 503,
    meaning: 'Redis does not store or return events of streams. Runs go on.',
    remedy: 'Bring Redis back: connections recover by themselves.',
  },
  project_not_loaded: {
    status: 503,
    meaning: "The process with the project's code ended and could not be started again.",
    remedy: 'Read the log lines with `from: project`.',
  },
  project_unresponsive: {
    status: 503,
    meaning:
      "The project's own code crashed its process, blocked it for `GRAPH_HOST_SILENT_SECONDS`, closed the connection, or returned no state for five minutes: a graph's factory that waits for something.",
    remedy: 'Read the log lines with `from: project`. The next request starts the process again.',
  },
} as const satisfies Record<string, ErrorEntry>;
