import { type DataCipher, JSON_PLACES } from '@runyard/encryption';

/** The parts of an assistant that callers and the project fill with JSON of their own. */
interface AssistantJson {
  config: object;
  context: object;
  metadata: object;
  projectSettings?: unknown;
}

/** Encrypts single values in the JSON of an assistant, before it is stored. @throws EncryptionUnavailableError */
export async function encryptJson<T extends AssistantJson>(assistant: T, { json }: DataCipher): Promise<T> {
  const [config, context, metadata, projectSettings] = await Promise.all([
    json.encrypt(assistant.config, JSON_PLACES.assistantConfig),
    json.encrypt(assistant.context, JSON_PLACES.assistantContext),
    json.encrypt(assistant.metadata, JSON_PLACES.assistantMetadata),
    json.encrypt(assistant.projectSettings, JSON_PLACES.assistantSettings),
  ]);
  return { ...assistant, config, context, metadata, ...(projectSettings !== undefined && { projectSettings }) };
}

/** Replaces the JSON of an assistant, to decrypt values in it. */
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
