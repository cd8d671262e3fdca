import type { A2aMessage, A2aPart } from '@runyard/contracts';
import { type Fields, isFields } from '../../http/fields.ts';
import { A2aError, invalidParams } from './a2a-error.ts';
import { camelKeys, optionalText, optionalTexts, requireFields } from './read-fields.ts';

/**
 * Reads a message that a client sends, in the form of 1.0 or of 0.3 and with names in camel or snake case, as one of
 * 1.0. @throws A2aError
 */
export function readMessage(value: unknown): A2aMessage {
  const message = camelKeys(requireFields(value, 'message'));
  if (message.role !== 'user' && message.role !== 'ROLE_USER') {
    throw invalidParams('message.role', 'must be the role of the user: ROLE_USER, or user in 0.3');
  }
  const messageId = optionalText(message, 'messageId', 'message');
  if (!messageId) throw invalidParams('message.messageId', 'must be a text that is not empty');
  if (!Array.isArray(message.parts) || message.parts.length === 0) {
    throw invalidParams('message.parts', 'must be a list with at least one part');
  }
  const contextId = optionalText(message, 'contextId', 'message');
  const taskId = optionalText(message, 'taskId', 'message');
  const extensions = optionalTexts(message, 'extensions', 'message');
  return {
    messageId,
    role: 'ROLE_USER',
    parts: message.parts.map((part, index) => readPart(part, `message.parts[${index}]`)),
    ...(contextId && { contextId }),
    ...(taskId && { taskId }),
    ...(isFields(message.metadata) && { metadata: message.metadata }),
    ...(extensions && { extensions }),
  };
}

function readPart(value: unknown, place: string): A2aPart {
  if (!isFields(value)) throw badPart(place, 'must be an object');
  const part = camelKeys(value);
  const content = { ...contentOf(part, place), ...(isFields(part.metadata) && { metadata: part.metadata }) };
  for (const name of ['mediaType', 'filename'] as const) {
    const text = optionalText(part, name, place);
    if (text) content[name] ??= text;
  }
  return content;
}

/** Exactly one kind of content counts, whatever a `kind` beside it says. */
function contentOf(part: Fields, place: string): A2aPart {
  const found: A2aPart[] = [];
  if (typeof part.text === 'string') found.push({ text: part.text });
  if (isFields(part.file)) found.push(fileOf(camelKeys(part.file), `${place}.file`));
  if (part.raw !== undefined) found.push({ raw: requireBase64(part.raw, `${place}.raw`) });
  if (part.url !== undefined) found.push({ url: requireUrl(part.url, `${place}.url`) });
  if (part.data !== undefined) found.push({ data: unwrapped(part.data, part.metadata) });
  const [only, ...others] = found;
  if (!only || others.length > 0) throw badPart(place, 'must have exactly one of text, raw, url and data');
  return only;
}

/** Returns data that a client of 0.3 has wrapped: they are objects there. */
function unwrapped(data: unknown, metadata: unknown): unknown {
  return isFields(metadata) && metadata.data_part_compat === true && isFields(data) ? data.value : data;
}

/** Reads the file of a part of 0.3. */
function fileOf(file: Fields, place: string): A2aPart {
  const mediaType = optionalText(file, 'mimeType', place);
  const filename = optionalText(file, 'name', place);
  const about = { ...(mediaType && { mediaType }), ...(filename && { filename }) };
  if (file.bytes !== undefined) return { raw: requireBase64(file.bytes, `${place}.bytes`), ...about };
  return { url: requireUrl(file.uri, `${place}.uri`), ...about };
}

/** Accepts base64 in both alphabets. Line breaks are not accepted. */
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

function requireBase64(value: unknown, place: string): string {
  if (typeof value !== 'string' || !BASE64.test(value)) throw badPart(place, 'must be base64');
  return value.replaceAll('-', '+').replaceAll('_', '/');
}

function requireUrl(value: unknown, place: string): string {
  if (typeof value !== 'string' || !URL.canParse(value)) throw badPart(place, 'must be an absolute URL');
  return value;
}

function badPart(field: string, description: string): A2aError {
  return new A2aError('CONTENT_TYPE_NOT_SUPPORTED', `${field}: ${description}`, [{ field, description }]);
}
