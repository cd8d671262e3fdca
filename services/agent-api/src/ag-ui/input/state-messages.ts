import type { A2aPart, AgUiMessage } from '@runyard/contracts';
import { UnprocessableError } from '@runyard/service-kit';
import { contentOfParts } from '../../a2a/tasks/content-parts.ts';
import { type Fields, isFields } from '../../http/fields.ts';

/**
 * Returns messages of AG-UI as a graph takes them. Those of roles that are about showing alone (reasoning, activity),
 * or that are not known here, are left out. @throws UnprocessableError
 */
export function toStateMessages(messages: AgUiMessage[]): Fields[] {
  return messages.flatMap<Fields>((message, index) => toStateMessage(message, `messages.${index}`) ?? []);
}

function toStateMessage(message: AgUiMessage, place: string): Fields | undefined {
  const { id } = message;
  const name = message.name ? { name: message.name } : {};
  const content = () => toContent(message.content, place);
  switch (message.role) {
    case 'user':
      return { type: 'human', id, content: content(), ...name };
    case 'assistant':
      return { type: 'ai', id, content: content(), tool_calls: toToolCalls(message), ...name };
    case 'system':
      return { type: 'system', id, content: content(), ...name };
    case 'developer':
      return { type: 'system', id, content: content(), additional_kwargs: { __openai_role__: 'developer' }, ...name };
    case 'tool': {
      if (!message.toolCallId) throw new UnprocessableError(`${place}.toolCallId: is missing`);
      const about = { tool_call_id: message.toolCallId, ...(message.error && { status: 'error' }) };
      const result = content();
      return { type: 'tool', id, content: result === '' ? (message.error ?? '') : result, ...about };
    }
    default:
      return undefined;
  }
}

function toToolCalls({ toolCalls }: AgUiMessage): Fields[] {
  return (toolCalls ?? []).map(({ id, function: { name, arguments: text } }) => ({
    type: 'tool_call',
    id,
    name,
    args: parseArguments(text),
  }));
}

/** Models may have written arguments that are no JSON object: they do not fail the run. */
function parseArguments(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text || '{}');
    return isFields(value) ? value : { input: value };
  } catch {
    return { input: text };
  }
}

function toContent(content: AgUiMessage['content'], place: string): string | Fields[] {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new UnprocessableError(`${place}.content: must be a text or a list of parts`);
  return contentOfParts(content.flatMap((part) => toPart(part) ?? []));
}

/** Parts that cannot be used, such as files of a provider, are left out: they do not fail the run. */
function toPart(part: Fields): A2aPart | undefined {
  if (part.type === 'text') return typeof part.text === 'string' ? { text: part.text } : undefined;
  const source = part.type === 'binary' ? sourceOfBinary(part) : part.source;
  if (!isFields(source) || typeof source.value !== 'string') return undefined;
  if (source.type !== 'data' && source.type !== 'url') return undefined;
  const filename = isFields(part.metadata) ? part.metadata.filename : part.filename;
  return {
    ...(source.type === 'data' ? { raw: source.value } : { url: source.value }),
    mediaType: mediaTypeOf(part, source),
    ...(typeof filename === 'string' && { filename }),
  };
}

/** Returns the source of a part as clients before 1.0 had it. */
function sourceOfBinary({ data, url, mimeType }: Fields): Fields {
  return typeof data === 'string' ? { type: 'data', value: data, mimeType } : { type: 'url', value: url, mimeType };
}

/** A source without a media type is at least of the kind that its part names. */
function mediaTypeOf({ type }: Fields, { mimeType }: Fields): string {
  if (typeof mimeType === 'string' && mimeType !== '') return mimeType;
  return type === 'image' || type === 'audio' || type === 'video' ? `${type}/*` : 'application/octet-stream';
}
