import type { ThreadEvent } from './thread-event.ts';
import { orderOfTask, type Timeline, taskOf } from './timeline.ts';
import { checkpointEntry, errorText, gapEntry, interruptEntry, putInterrupt, runError } from './timeline-entries.ts';
import { applyMessage, applyTool, parse } from './timeline-model-events.ts';

/** Adds what an event of the run says. The same events make the same entries, whatever was there before. */
export function applyEvent(timeline: Timeline, event: ThreadEvent): void {
  const apply = APPLIERS[event.method] ?? (event.method.startsWith('custom') ? applyCustom : undefined);
  apply?.(timeline, event);
}

const APPLIERS: Record<string, (timeline: Timeline, event: ThreadEvent) => void> = {
  lifecycle: applyLifecycle,
  tasks: applyTask,
  checkpoints: applyCheckpoint,
  messages: applyMessage,
  tools: applyTool,
  'input.requested': applyInterrupt,
  gap: applyGap,
};

function applyLifecycle(timeline: Timeline, { params }: ThreadEvent): void {
  const { namespace, timestamp, data } = params;
  if (namespace.length > 0 || data.event !== 'failed') return;
  timeline.put(runError(parse(data.error), timestamp));
}

function applyTask(timeline: Timeline, { params }: ThreadEvent): void {
  const { namespace, timestamp, data } = params;
  const { id: taskId, name, input, result, error, metadata } = data;
  const interrupts = (data.interrupts ?? []) as { id?: string; value: unknown }[];
  const parent = taskOf(timeline, namespace, timestamp);
  const id = `task:${String(taskId)}`;
  const known = timeline.get(id);
  const order = known?.order ?? orderOfTask(timeline, parent, timestamp, timeline.childrenOf(parent).length);
  const base = { id, kind: 'task' as const, title: String(name), parent, order };
  if ('input' in data) {
    const details = { ...known?.details, input, metadata };
    timeline.put({
      ...known,
      ...base,
      status: 'running',
      startedAt: timestamp,
      endedAt: undefined,
      text: undefined,
      details,
    });
    return;
  }
  const status = error ? 'error' : interrupts.length > 0 ? 'waiting' : 'success';
  const details = { input: undefined, ...known?.details, ...(error ? { error } : { output: result }) };
  timeline.put({ ...known, ...base, status, endedAt: timestamp, text: error ? errorText(error) : undefined, details });
  for (const interrupt of interrupts) {
    putInterrupt(timeline, interruptEntry(interrupt.id ?? id, interrupt.value, id, timestamp));
  }
}

function applyInterrupt(timeline: Timeline, { params }: ThreadEvent): void {
  const { namespace, timestamp, data } = params;
  const interruptId = String(data.interrupt_id);
  // The task says the same, and knows better where it is.
  if (timeline.get(`interrupt:${interruptId}`)) return;
  timeline.put(interruptEntry(interruptId, data.payload, taskOf(timeline, namespace, timestamp), timestamp));
}

function applyCheckpoint(timeline: Timeline, { params }: ThreadEvent): void {
  const { namespace, timestamp, data } = params;
  const parent = taskOf(timeline, namespace, timestamp);
  const { id, step, source } = data;
  timeline.put(
    checkpointEntry({ id: String(id), namespace: namespace.join('|'), step, source, parent, at: timestamp }, timeline),
  );
}

function applyCustom(timeline: Timeline, { event_id: id, params }: ThreadEvent): void {
  const { namespace, timestamp, data } = params;
  timeline.put({
    id: `custom:${id}`,
    kind: 'custom',
    title: typeof data.name === 'string' ? data.name : 'Custom event',
    parent: taskOf(timeline, namespace, timestamp),
    order: [timestamp, 0],
    startedAt: timestamp,
    text: JSON.stringify(data.payload)?.slice(0, 500),
    details: { payload: data.payload },
  });
}

function applyGap(timeline: Timeline, { event_id: id, params }: ThreadEvent): void {
  timeline.put(gapEntry(id, `Events are missing here: ${String(params.data.reason)}`, params.timestamp, params.data));
}
