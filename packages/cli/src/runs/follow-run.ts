import { setTimeout as pause } from 'node:timers/promises';
import { type AgentServer, ServerRefusedError } from '../agent-server/agent-server.ts';
import type { ServerSentEvent } from '../agent-server/event-stream.ts';
import { reasonOf } from '../cli-error.ts';
import { isUnreachable } from '../connection/refusals.ts';
import { findRun, hasEnded, type Run, type RunName, runPath } from './run.ts';

/** Milliseconds that a server may be away while a run is followed. A restart takes seconds. */
const AWAY_MAX_MS = 120_000;
/** Milliseconds after which a connection without events has shown that the server is there. */
const LASTING_MS = 10_000;
/** The position before all events that a server has kept. */
const BEFORE_ALL = '-1';

export interface FollowOptions {
  name: RunName;
  /** The modes to show, of those that the run streams; undefined for all. */
  modes: string | undefined;
  /** Milliseconds before a connection that ended is opened again. */
  pollMs: number;
  interrupted: AbortSignal;
  /** Takes a sentence about the connection, or about events that are not shown. */
  warn: (sentence: string) => void;
}

/**
 * Follows the events of a run to its end, over broken connections: each event once where they have ids, and without
 * those of an interruption where they have none. To leave it does nothing to the run.
 *
 * @returns the run as it ended; undefined when it was deleted meanwhile
 * @throws CliError when the server is away for two minutes, or refuses
 */
export async function* followRun(
  server: AgentServer,
  { name, modes, pollMs, interrupted, warn }: FollowOptions,
): AsyncGenerator<ServerSentEvent, Run | undefined> {
  const query = modes === undefined ? '' : `?${new URLSearchParams({ stream_mode: modes })}`;
  let position: string | undefined = BEFORE_ALL;
  let awaySince: number | undefined;
  for (;;) {
    let openedAt = Number.POSITIVE_INFINITY;
    const onOpen = () => {
      openedAt = Date.now();
    };
    try {
      for await (const event of server.events(`${runPath(name)}/stream${query}`, position, onOpen)) {
        awaySince = undefined;
        // Without ids, the same position would bring the same events again.
        position = event.id ?? (position === BEFORE_ALL ? undefined : position);
        yield event;
      }
      const run = await findRun(server, name);
      awaySince = undefined;
      if (run === undefined || hasEnded(run)) return run;
    } catch (error) {
      interrupted.throwIfAborted();
      if (!isTemporary(error)) throw error;
      if (Date.now() - openedAt >= LASTING_MS) awaySince = undefined;
      if (awaySince === undefined) warn(warningOf(error, position));
      awaySince ??= Date.now();
      if (Date.now() - awaySince > AWAY_MAX_MS) throw error;
    }
    await pause(pollMs, undefined, { signal: interrupted }).catch(() => interrupted.throwIfAborted());
  }
}

function isTemporary(error: unknown): boolean {
  return isUnreachable(error) || (error instanceof ServerRefusedError && error.status === 429);
}

function warningOf(error: unknown, position: string | undefined): string {
  const loss = position === undefined ? ' Its events have no ids: those of the meantime are not shown.' : '';
  return `${reasonOf(error)} The run is followed again as soon as that works.${loss}`;
}
