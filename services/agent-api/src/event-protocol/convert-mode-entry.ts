import type { ProtocolChannel } from '@runyard/host-protocol';
import type { StreamEntry } from '@runyard/run-stream';
import type { EventContent } from './thread-event.ts';

type JsonRecord = Record<string, unknown>;

const INTERRUPT = '__interrupt__';

/**
 * Converts an entry of a run that was started for stream modes, but for its messages: an entry alone does not say where
 * they begin (`ModeMessages`).
 */
export function convertModeEntry({ id, kind, event, data }: StreamEntry): EventContent[] {
  const namespace = event.split('|').slice(1);
  const timestamp = Number.parseInt(id, 10);
  /** `data` is JSON text. */
  const content = (channel: ProtocolChannel, text: string, node?: string): EventContent => {
    const about = `"timestamp":${timestamp}${node === undefined ? '' : `,"node":${JSON.stringify(node)}`}`;
    return { channel, namespace, params: `{${about},"data":${text}}` };
  };
  const inputs = (interrupts: unknown) => toInputs(interrupts).map((input) => content('input', JSON.stringify(input)));
  switch (kind) {
    case 'values': {
      const interrupts = ownInterrupts(data);
      return interrupts ? inputs(interrupts) : [content('values', data)];
    }
    case 'updates':
      return Object.entries(JSON.parse(data) as JsonRecord).flatMap(([node, values]) =>
        node === INTERRUPT ? inputs(values) : [content('updates', JSON.stringify({ node, values }), node)],
      );
    case 'custom':
      return [content('custom', `{"payload":${data}}`)];
    case 'tasks':
      return [content('tasks', data)];
    case 'checkpoints':
      return toEnvelopes(JSON.parse(data)).map((envelope) => content('checkpoints', JSON.stringify(envelope)));
    default:
      return [];
  }
}

/** Returns what a graph asks by its values, if it asks. A key of that name inside of them is the project's own. */
function ownInterrupts(values: string): unknown[] | undefined {
  // Most values need not be parsed.
  if (!values.includes(`"${INTERRUPT}"`)) return undefined;
  const parsed: unknown = JSON.parse(values);
  const own = typeof parsed === 'object' && parsed !== null ? (parsed as JsonRecord)[INTERRUPT] : undefined;
  return Array.isArray(own) ? own : undefined;
}

function toInputs(interrupts: unknown): { interrupt_id: string; payload: unknown }[] {
  if (!Array.isArray(interrupts)) return [];
  return interrupts.flatMap((interrupt: { id?: unknown; value?: unknown } | null) =>
    typeof interrupt?.id === 'string' ? [{ interrupt_id: interrupt.id, payload: interrupt.value ?? null }] : [],
  );
}

interface Snapshot {
  config?: { configurable?: JsonRecord } | null;
  parent_config?: { configurable?: JsonRecord } | null;
  metadata?: { step?: unknown; source?: unknown } | null;
}

function toEnvelopes({ config, parent_config, metadata }: Snapshot): JsonRecord[] {
  const id = config?.configurable?.checkpoint_id;
  if (typeof id !== 'string') return [];
  const parent_id = parent_config?.configurable?.checkpoint_id;
  return [{ id, ...(typeof parent_id === 'string' && { parent_id }), step: metadata?.step, source: metadata?.source }];
}
