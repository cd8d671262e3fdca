import type { JsonKeyCipher } from '@runyard/encryption';
import type { SerializedValue } from '../backend.ts';

/** The key under which LangGraph keeps what a step or an update wrote: content, as the state itself. */
export const CONTENT_KEYS = ['writes'];

/** The type of values that are JSON text, whichever serializer wrote them. */
const JSON_TYPE = 'json';

/** Encrypts chosen keys in the serialized metadata of a checkpoint. Other keys stay readable. */
export function encryptMetadata({ type, data }: SerializedValue, json: JsonKeyCipher): SerializedValue {
  return { type, data: type === JSON_TYPE ? replaceJson(data, json.encrypt) : data };
}

/** @throws EncryptionError */
export function decryptMetadata({ type, data }: SerializedValue, json: JsonKeyCipher): SerializedValue {
  const isReplaced = type === JSON_TYPE && json.isEncrypting;
  return { type, data: isReplaced ? replaceJson(data, json.decrypt) : data };
}

/** Returns whether single keys can be encrypted in it. */
export function isJsonText({ type }: SerializedValue): boolean {
  return type === JSON_TYPE;
}

/** Returns the bytes themselves when nothing is replaced: the text stays as its serializer wrote it. */
function replaceJson(data: Uint8Array, replace: (json: unknown) => unknown): Uint8Array {
  const json: unknown = JSON.parse(new TextDecoder().decode(data));
  const replaced = replace(json);
  return replaced === json ? data : Buffer.from(JSON.stringify(replaced));
}
