import type { A2aPart } from '@runyard/contracts';
import { isFields } from '../../http/fields.ts';
import { A2aError } from '../protocol/a2a-error.ts';

const INPUT_MODES = [
  ...['text/plain', 'application/json', 'text/*', 'image/*', 'audio/*', 'video/*', 'application/pdf'],
  'application/octet-stream',
];
const OUTPUT_MODES = ['text/plain', 'application/json'];

export interface MediaTypes {
  input: string[];
  output: string[];
}

/** Returns the media types that an assistant takes and gives; its metadata may say so. */
export function mediaTypesOf(metadata: Record<string, unknown>): MediaTypes {
  const a2a = isFields(metadata.a2a) ? metadata.a2a : {};
  return { input: textsOr(a2a.input_modes, INPUT_MODES), output: textsOr(a2a.output_modes, OUTPUT_MODES) };
}

/** @throws A2aError when a part is of a type that the assistant does not take */
export function requireAccepted(parts: A2aPart[], { input }: MediaTypes): void {
  for (const part of parts) {
    const type = typeOf(part);
    if (input.some((mode) => matches(type, mode))) continue;
    throw new A2aError('CONTENT_TYPE_NOT_SUPPORTED', `Content of the type ${type} is not supported`);
  }
}

/** @throws A2aError when the client accepts none of the types that the assistant gives */
export function requireAcceptable(accepted: string[] | undefined, { output }: MediaTypes): void {
  if (accepted === undefined || accepted.length === 0) return;
  const isAccepted = output.some((type) => accepted.some((mode) => matches(type, mode) || matches(mode, type)));
  if (isAccepted) return;
  throw new A2aError('CONTENT_TYPE_NOT_SUPPORTED', `Answers are of the types ${output.join(', ')}`);
}

function typeOf({ text, data, mediaType }: A2aPart): string {
  const usual =
    text !== undefined ? 'text/plain' : data !== undefined ? 'application/json' : 'application/octet-stream';
  return (mediaType ?? usual).split(';')[0]!.trim().toLowerCase();
}

function matches(type: string, mode: string): boolean {
  const wanted = mode.toLowerCase();
  if (wanted === '*/*' || wanted === type) return true;
  return wanted.endsWith('/*') && type.startsWith(wanted.slice(0, -1));
}

/** Returns the texts of a list that somebody wrote into metadata, which may have anything beside them. */
function textsOr(value: unknown, usual: string[]): string[] {
  const texts = Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : [];
  return texts.length > 0 ? texts : usual;
}
