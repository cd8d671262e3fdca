/**
 * Makes the stream of a line before 0.3.6 like those of later ones. Such a line reports interrupts as updates only, and
 * tasks and checkpoints in mode `debug` only.
 */
import type { LangGraphLine } from '../langgraph/lines.ts';
import type { DebugChunk } from './step-events.ts';

/** A chunk of a stream: its namespace, mode and payload. */
export type StreamChunk = [namespace: string[], mode: string, payload: unknown];

/** Returns the modes to request, so that `laterChunks` finds what the asked ones need. */
export function requestedModes(asked: string[], { streamsTasksAndInterrupts }: LangGraphLine): string[] {
  if (streamsTasksAndInterrupts) return asked;
  const known = asked.filter((mode) => mode !== 'tasks' && mode !== 'checkpoints');
  return [...new Set([...known, 'updates', ...(known.length < asked.length ? ['debug'] : [])])];
}

/** Returns the chunks that a later line would have streamed. */
export function laterChunks(chunk: StreamChunk, { streamsTasksAndInterrupts }: LangGraphLine): StreamChunk[] {
  if (streamsTasksAndInterrupts) return [chunk];
  const [namespace, mode, payload] = chunk;
  if (mode === 'debug') {
    const { type, payload: step } = payload as DebugChunk;
    return [chunk, [namespace, type === 'checkpoint' ? 'checkpoints' : 'tasks', step]];
  }
  const isInterrupt = mode === 'updates' && typeof payload === 'object' && payload !== null;
  return isInterrupt && '__interrupt__' in payload ? [chunk, [namespace, 'values', payload]] : [chunk];
}
