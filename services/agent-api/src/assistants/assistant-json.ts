/** The parts of an assistant that callers and the project fill with JSON of their own. */
interface AssistantJson {
  config: object;
  context: object;
  metadata: object;
  projectSettings?: unknown;
}

/** Replaces the JSON of an assistant, to encrypt or decrypt keys in it. */
export function replaceJson<T extends AssistantJson>(assistant: T, replace: <J>(json: J) => J): T {
  const { config, context, metadata, projectSettings } = assistant;
  return {
    ...assistant,
    config: replace(config),
    context: replace(context),
    metadata: replace(metadata),
    ...(projectSettings !== undefined && { projectSettings: replace(projectSettings) }),
  };
}
