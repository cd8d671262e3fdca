/** Describes how a run ended in the child, and sends that to the parent. */
import type { ErrorBody, HostConnection } from '@runyard/host-protocol/graph-process';
import type { StateSnapshot } from '../langgraph/graph-types.ts';
import { withIds } from '../langgraph/interrupt-id.ts';
import { errorBody } from '../wire/error-body.ts';
import { toWireJson } from '../wire/wire-json.ts';

export interface Settlement {
  kind: 'done' | 'failed' | 'aborted' | 'drained';
  values?: unknown;
  next?: string[];
  interrupts?: Record<string, unknown[]>;
  error?: ErrorBody;
}

/** Sends a failure instead when values or interrupts have no JSON form, or are too large for one message. */
export function sendSettlement(
  connection: HostConnection,
  use: number,
  settlement: Settlement,
  checkpointId: string | null = null,
): void {
  let values: Buffer | null = null;
  let interrupts: Buffer | null = null;
  let { kind, error } = settlement;
  try {
    values = settlement.values === undefined ? null : Buffer.from(toWireJson(settlement.values, 'state'));
    interrupts = settlement.interrupts ? Buffer.from(toWireJson(settlement.interrupts, 'state')) : null;
  } catch (unserializable) {
    kind = 'failed';
    error = errorBody(unserializable);
  }
  const header = {
    t: 'run.settled',
    use,
    kind,
    error,
    valuesBytes: values?.byteLength ?? null,
    interruptsBytes: interrupts?.byteLength ?? null,
    next: settlement.next,
    checkpointId,
  };
  const parts = [values, interrupts].filter((part) => part !== null);
  try {
    connection.send(use, header, parts);
  } catch (unsendable) {
    if (parts.length === 0) throw unsendable;
    sendSettlement(connection, use, { kind: 'failed', error: errorBody(unsendable) }, checkpointId);
  }
}

/** Returns `{task id: [{id, value}]}` of the tasks that wait for an answer; undefined when none does. */
export function interruptsByTask(tasks: StateSnapshot['tasks']): Record<string, unknown[]> | undefined {
  const waiting = tasks.filter((task) => (task.interrupts?.length ?? 0) > 0);
  if (waiting.length === 0) return undefined;
  return Object.fromEntries(waiting.map((task) => [task.id, withIds(task.interrupts)]));
}
