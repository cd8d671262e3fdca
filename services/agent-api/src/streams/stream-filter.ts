import { StreamMode, validatorOf } from '@runyard/contracts';
import type { StreamEntry } from '@runyard/run-stream';
import { UnprocessableError } from '@runyard/service-kit';

const isStreamMode = validatorOf(StreamMode);

/**
 * The modes named by `stream_mode` of a join: repeated, comma-separated or as a stringified JSON list. Undefined: all that
 * the run emits.
 *
 * @throws UnprocessableError
 */
export function parseStreamModes(parameter: string | string[] | undefined): Set<string> | undefined {
  if (parameter === undefined) return undefined;
  const names = (Array.isArray(parameter) ? parameter : [parameter]).flatMap(split);
  if (names.length === 0) return undefined;
  for (const name of names) {
    if (!isStreamMode(name).ok) throw new UnprocessableError(`Invalid stream mode: ${name}`);
  }
  return new Set(names);
}

/** Whether a client that joined for these modes gets the entry. A failure reaches every client. */
export function passes(entry: StreamEntry, modes: Set<string> | undefined): boolean {
  return modes === undefined || modes.has(entry.kind) || entry.kind === 'error';
}

function split(text: string): string[] {
  const trimmed = text.trim();
  if (trimmed.startsWith('[') || trimmed.startsWith('"')) {
    try {
      const parsed: unknown = JSON.parse(trimmed);
      return (Array.isArray(parsed) ? parsed : [parsed]).map(String);
    } catch {
      throw new UnprocessableError(`Invalid stream mode: ${trimmed}`);
    }
  }
  return trimmed
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
