/** Names a column with JSON to handlers of a project, in the words of other servers of this API. */
export interface JsonPlace {
  /** The kind of resource. */
  readonly model: string;
  /** The part of it that the JSON is. */
  readonly field: string;
}

/** The columns with JSON that is stored readable but for single values. */
export const JSON_PLACES = {
  threadMetadata: { model: 'thread', field: 'metadata' },
  threadConfig: { model: 'thread', field: 'config' },
  runMetadata: { model: 'run', field: 'metadata' },
  cronMetadata: { model: 'cron', field: 'metadata' },
  assistantMetadata: { model: 'assistant', field: 'metadata' },
  assistantConfig: { model: 'assistant', field: 'config' },
  assistantContext: { model: 'assistant', field: 'context' },
  assistantSettings: { model: 'assistant', field: 'project_settings' },
  checkpointMetadata: { model: 'checkpoint', field: 'metadata' },
  storeValue: { model: 'store', field: 'value' },
} as const satisfies Record<string, JsonPlace>;
