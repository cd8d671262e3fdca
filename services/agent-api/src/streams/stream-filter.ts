import { StreamMode, ThreadStreamMode, validatorOf } from '@runyard/contracts';
import { isProtocolMode } from '@runyard/host-protocol';
import type { StreamEntry } from '@runyard/run-stream';
import { UnprocessableError } from '@runyard/service-kit';

type Parameter = string | string[] | undefined;

const isStreamMode = validatorOf(StreamMode);
const isThreadStreamMode = validatorOf(ThreadStreamMode);

/**
 * Parses the modes in `stream_mode` of a join; undefined means all that the run emits.
 *
 * @throws UnprocessableError
 */
export function parseStreamModes(parameter: Parameter): Set<string> | undefined {
  return parseModes(namesIn(parameter), (name) => isStreamMode(name).ok);
}

/** Parses the modes of a thread's stream, under either of its parameter's spellings. @throws UnprocessableError */
export function parseThreadStreamModes(...parameters: Parameter[]): Set<string> {
  const modes = parseModes(parameters.flatMap(namesIn), (name) => isThreadStreamMode(name).ok);
  return modes ?? new Set(['run_modes']);
}

/**
 * Returns whether a client that joined with these modes gets the entry. A failure reaches every client, and events of the
 * event protocol none.
 */
export function passes(entry: Pick<StreamEntry, 'kind'>, modes: Set<string> | undefined): boolean {
  if (isProtocolMode(entry.kind)) return false;
  return modes === undefined || modes.has(entry.kind) || entry.kind === 'error';
}

function parseModes(names: string[], isMode: (name: string) => boolean): Set<string> | undefined {
  const unknown = names.find((name) => !isMode(name));
  if (unknown !== undefined) throw new UnprocessableError(`Invalid stream mode: ${unknown}`);
  return names.length > 0 ? new Set(names) : undefined;
}

/** Splits a list in a query string: the parameter repeated, comma-separated or as a stringified JSON list. */
function namesIn(parameter: Parameter): string[] {
  if (parameter === undefined) return [];
  return (Array.isArray(parameter) ? parameter : [parameter]).flatMap(split);
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
