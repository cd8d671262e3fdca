import type { A2aPart } from '@runyard/contracts';
import { type Fields, isFields } from '../../http/fields.ts';

/** Converts between the parts of A2A and the content of LangChain's messages. */

const MEDIA: ReadonlySet<string> = new Set(['image', 'audio', 'video', 'file', 'text-plain']);
const DATA_URL = /^data:([^;,]*);base64,(.*)$/s;

/** Returns the text and the files of a message's content; what has no form in A2A is left out. */
export function partsOfContent(content: unknown): A2aPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }];
  return Array.isArray(content) ? content.flatMap((block) => partOfBlock(block) ?? []) : [];
}

function partOfBlock(block: unknown): A2aPart | undefined {
  if (typeof block === 'string') return block === '' ? undefined : { text: block };
  if (!isFields(block)) return undefined;
  if (block.type === 'text' && typeof block.text === 'string')
    return block.text === '' ? undefined : { text: block.text };
  if (block.type === 'data') return block.data === undefined ? undefined : { data: block.data };
  if (block.type === 'image_url') {
    const url = isFields(block.image_url) ? block.image_url.url : block.image_url;
    return typeof url === 'string' ? fileAt(url, { type: 'image' }) : undefined;
  }
  if (typeof block.type !== 'string' || !MEDIA.has(block.type)) return undefined;
  const { data, base64 = data, url } = block;
  if (typeof base64 === 'string') return { raw: base64, ...aboutFile(block) };
  return typeof url === 'string' ? fileAt(url, block) : undefined;
}

function fileAt(url: string, block: Fields): A2aPart {
  const [, mediaType, raw] = DATA_URL.exec(url) ?? [];
  if (raw !== undefined) return { raw, ...aboutFile({ ...block, ...(mediaType && { mimeType: mediaType }) }) };
  return { url, ...aboutFile(block) };
}

function aboutFile({ mimeType, mime_type: mediaType = mimeType, filename, metadata }: Fields) {
  const name = filename ?? (isFields(metadata) ? (metadata.filename ?? metadata.name) : undefined);
  return {
    ...(typeof mediaType === 'string' && { mediaType }),
    ...(typeof name === 'string' && { filename: name }),
  };
}

/** Returns the content of a message for a graph: a text, or blocks where there are files. URLs are not fetched. */
export function contentOfParts(parts: A2aPart[]): string | Fields[] {
  const blocks = parts.map(blockOf).filter((block) => block !== undefined);
  const isText = blocks.every(({ type }) => type === 'text');
  return isText ? blocks.map(({ text }) => text).join('\n') : blocks;
}

function blockOf({ text, raw, url, mediaType, filename }: A2aPart): Fields | undefined {
  if (text !== undefined) return { type: 'text', text };
  if (raw === undefined && url === undefined) return undefined;
  const [kind = ''] = (mediaType ?? '').split('/');
  return {
    type: ['image', 'audio', 'video'].includes(kind) ? kind : 'file',
    ...(raw === undefined ? { url } : { data: raw }),
    mimeType: mediaType ?? 'application/octet-stream',
    ...(filename !== undefined && { metadata: { filename } }),
  };
}
