import type { Deployment, Thread } from '@runyard/contracts';
import type { Question } from '../../platform/threads.ts';

/** The metadata of a thread that say who answers it, and by when. */
export const ASSIGNEE = 'runyard_assignee';
export const DUE = 'runyard_due';

export type WaitingThread = Pick<
  Thread,
  'thread_id' | 'metadata' | 'interrupts' | 'updated_at' | 'state_updated_at' | 'error'
>;

/** A thread that waits for a person. */
export interface InboxItem {
  key: string;
  deploymentId: string;
  deploymentName: string;
  threadId: string;
  graph: string | undefined;
  assistantId: string | undefined;
  /** When it began to wait. */
  since: string;
  /** Empty for a thread that was stopped between two nodes. */
  questions: Question[];
  /** The nodes with which it goes on. */
  next: string[];
  wasCancelled: boolean;
  assignee: string | undefined;
  due: string | undefined;
}

/** Returns the name of an item in lists. */
export function itemKey(deploymentId: string, threadId: string): string {
  return `${deploymentId}/${threadId}`;
}

/**
 * Returns what a thread waits for; undefined where it waits for nobody: one that was cancelled may have nothing left to
 * do. `next` is asked for only where there is no question.
 */
export function itemOf(
  deployment: Pick<Deployment, 'id' | 'name' | 'display_name'>,
  thread: WaitingThread,
  next: string[],
): InboxItem | undefined {
  const questions = questionsOf(thread);
  if (questions.length === 0 && next.length === 0) return undefined;
  const { metadata, error } = thread;
  return {
    key: itemKey(deployment.id, thread.thread_id),
    deploymentId: deployment.id,
    deploymentName: deployment.display_name ?? deployment.name,
    threadId: thread.thread_id,
    graph: text(metadata.graph_id),
    assistantId: text(metadata.assistant_id),
    since: thread.state_updated_at,
    questions,
    next,
    wasCancelled: error?.error === 'UserInterrupt',
    assignee: text(metadata[ASSIGNEE]),
    due: isMoment(metadata[DUE]) ? metadata[DUE] : undefined,
  };
}

/** Returns the questions of a thread, of all its tasks. */
export function questionsOf({ interrupts }: Pick<Thread, 'interrupts'>): Question[] {
  return Object.values(interrupts ?? {}).flat();
}

/** Returns whether the deadline of an item has passed. */
export function isOverdue({ due }: Pick<InboxItem, 'due'>, now: number): boolean {
  return due !== undefined && Date.parse(due) < now;
}

/** Orders what waits: what is overdue by its deadline, then the newest first. */
export function orderInbox(items: readonly InboxItem[], now: number): InboxItem[] {
  return items.toSorted((a, b) => {
    const [isLateA, isLateB] = [isOverdue(a, now), isOverdue(b, now)];
    if (isLateA !== isLateB) return isLateA ? -1 : 1;
    if (isLateA) return Date.parse(a.due!) - Date.parse(b.due!) || a.key.localeCompare(b.key);
    return Date.parse(b.since) - Date.parse(a.since) || a.key.localeCompare(b.key);
  });
}

/** Returns the item to go to when one has been answered: the one after it, at the end the one before. */
export function itemAfter(items: readonly InboxItem[], key: string): InboxItem | undefined {
  const index = items.findIndex((item) => item.key === key);
  const others = items.filter((item) => item.key !== key);
  return others[index] ?? others.at(-1);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isMoment(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}
