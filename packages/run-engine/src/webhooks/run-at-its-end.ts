/** The JSON of a run `r` that this transaction ends, as `WebhookRun` has it. */
export const RUN_AT_ITS_END = `jsonb_build_object(
           'run_id', r.run_id, 'thread_id', r.thread_id, 'assistant_id', r.assistant_id, 'metadata', r.metadata,
           'status', CASE WHEN r.status IN ('pending', 'running') THEN 'interrupted' ELSE r.status END,
           'multitask_strategy', r.multitask_strategy, 'error', r.error, 'created_at', r.created_at,
           'updated_at', r.updated_at, 'started_at', r.started_at, 'ended_at', coalesce(r.ended_at, now()))`;
