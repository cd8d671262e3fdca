import { JSON_PLACES, type JsonKeyCipher } from '@runyard/encryption';
import type { SerializedValue } from '../backend.ts';
import { JSON_TYPE } from '../metadata-json.ts';

/** The key under which LangGraph keeps what a step or an update wrote: content, as the state itself. */
export const CONTENT_KEYS = ['writes'];

/** Encrypts chosen keys in the serialized metadata of a checkpoint. Other keys stay readable. */
export async function encryptMetadata({ type, data }: SerializedValue, json: JsonKeyCipher): Promise<SerializedValue> {
  if (type !== JSON_TYPE) return { type, data };
  const metadata = parseJson(data);
  return { type, data: textOf(await json.encrypt(metadata, JSON_PLACES.checkpointMetadata), metadata, data) };
}

/** @throws EncryptionError */
export function decryptMetadata({ type, data }: SerializedValue, json: JsonKeyCipher): SerializedValue {
  if (type !== JSON_TYPE || !json.isEncrypting) return { type, data };
  const stored = parseJson(data);
  return { type, data: textOf(json.decrypt(stored), stored, data) };
}

/** Returns whether single keys can be encrypted in it. */
export function isJsonText({ type }: SerializedValue): boolean {
  return type === JSON_TYPE;
}

function parseJson(data: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(data));
}

/** Returns the bytes themselves when nothing is replaced: the text stays as its serializer wrote it. */
function textOf(replaced: unknown, json: unknown, data: Uint8Array): Uint8Array {
  return replaced === json ? data : Buffer.from(JSON.stringify(replaced));
}
