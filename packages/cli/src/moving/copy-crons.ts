import type { AgentServer } from '../agent-server/agent-server.ts';
import { CliError, InterruptedError, reasonOf } from '../cli-error.ts';
import { findDifference } from './compare.ts';
import { type CopyContext, copyEach } from './copy-context.ts';
import {
  type Cron,
  comparableCron,
  copiedId,
  copyRequest,
  isToSwitch,
  switched,
  switchedMark,
  wasSwitchedTo,
} from './crons.ts';
import { requireUuid } from './uuid.ts';

/**
 * Copies crons, disabled: none fires at both servers. With `isSwitched`, each is disabled at the source and only then
 * enabled at the target, if it was enabled at the source.
 *
 * @returns how many copies wait to be switched over
 * @throws CliError when both addresses lead to one server: each run would double its crons
 */
export async function copyCrons(context: CopyContext, { isSwitched }: { isSwitched: boolean }): Promise<number> {
  // All are known before the first is written, or the copies would be found as further ones to copy.
  const crons = new Map<unknown, Cron>();
  for await (const page of listCrons(context.source)) for (const cron of page) crons.set(cron.cron_id, cron);
  const copies = await readCopies(context.target, crons);
  let waiting = 0;
  const idOf = ({ cron_id }: Cron) => cron_id;
  await copyEach(inOnePage(crons), context, idOf, async (cron) => {
    const copy = await copyCron(cron, copies.get(cron.cron_id), context);
    if (!copy || copy.enabled || !isToSwitch(copy)) return;
    if (!cron.enabled && !wasSwitchedTo(cron, copy)) return;
    if (isSwitched && !context.isDryRun) await switchOver(cron, copy, context);
    else waiting += 1;
  });
  return waiting;
}

function listCrons(server: AgentServer): AsyncGenerator<Cron[]> {
  return server.search<Cron>('/runs/crons/search', { sort_by: 'created_at', sort_order: 'asc' });
}

async function* inOnePage(crons: Map<unknown, Cron>): AsyncGenerator<Cron[]> {
  yield [...crons.values()];
}

/** Returns the copies that the target has, by the ids of the source. */
async function readCopies(target: AgentServer, crons: Map<unknown, Cron>): Promise<Map<unknown, Cron>> {
  const copies = new Map<unknown, Cron>();
  for await (const page of listCrons(target)) {
    for (const cron of page) {
      if (crons.has(cron.cron_id)) {
        throw new CliError(
          `The target has the cron ${cron.cron_id} of the source itself: both addresses lead to the same server, ` +
            'or to copies of one database. No cron was copied.',
        );
      }
      const id = copiedId(cron);
      if (id !== undefined) copies.set(id, cron);
    }
  }
  return copies;
}

/** Returns the cron of the target, where there is one. */
async function copyCron(cron: Cron, copy: Cron | undefined, context: CopyContext): Promise<Cron | undefined> {
  const { target, tally, isDryRun } = context;
  const { cron_id: id, thread_id, assistant_id } = cron;
  requireUuid(id, 'cron_id');
  if (thread_id) requireUuid(thread_id, 'thread_id');
  if (assistant_id) requireUuid(assistant_id, 'assistant_id');
  if (copy) return count(cron, copy, 'present', context);
  const assistantId = await findAssistant(cron, context);
  if (assistantId === undefined) return void tally.add('skipped', id, 'the target does not have its assistant');
  if (thread_id && !(await target.find(`/threads/${thread_id}`))) {
    return void tally.add('skipped', id, 'the target does not have its thread');
  }
  const request = copyRequest(cron, assistantId);
  if (isDryRun) return void tally.add('copied', id);
  const path = thread_id ? `/threads/${thread_id}/runs/crons` : '/runs/crons';
  // A second request would make a second cron. When the answer is lost, the next run finds the first one by its mark.
  const made = await target.call<Cron>('POST', path, request, { isRepeatable: false });
  if (made.enabled !== false) await takeBack(made, target);
  return count(cron, made, 'copied', context);
}

/** Deletes a copy that fires beside its source. @throws CliError always: it is not copied */
async function takeBack({ cron_id }: Cron, target: AgentServer): Promise<never> {
  try {
    await target.call('DELETE', `/runs/crons/${cron_id}`);
  } catch (error) {
    if (error instanceof InterruptedError) throw error;
    throw new CliError(
      `the target enables crons at once, and did not delete this one: it fires at both servers (${reasonOf(error)})`,
    );
  }
  throw new CliError('the target enables crons at once: the copy was deleted, or it would fire at both servers');
}

function count(cron: Cron, copy: Cron, outcome: 'copied' | 'present', { tally }: CopyContext): Cron {
  const difference = findDifference(comparableCron(cron), comparableCron(copy), 'cron');
  if (difference !== null) {
    tally.add('different', cron.cron_id, `at the target it is another one, as ${difference} shows`);
  } else if (cron.enabled && copy.enabled) tally.add('different', cron.cron_id, 'it is enabled at both servers');
  else tally.add(outcome, cron.cron_id);
  return copy;
}

/** Returns the target's assistant for the source's: its copy, or the default assistant of the same graph. */
async function findAssistant(
  { assistant_id: id }: Cron,
  { source, target, graphs }: CopyContext,
): Promise<string | undefined> {
  if (!id) return undefined;
  if (await target.find(`/assistants/${id}`)) return id;
  const known = await source.find<{ graph_id: string; metadata: { created_by?: unknown } }>(`/assistants/${id}`);
  return known?.metadata.created_by === 'system' ? graphs.get(known.graph_id)?.assistantId : undefined;
}

/**
 * Between the two requests the cron fires nowhere. When the command ends there, the next run goes on by the mark that
 * the first one left at the source; the second one ends it, so that the copy is its owner's from then on.
 */
async function switchOver(cron: Cron, copy: Cron, { source, target }: CopyContext): Promise<void> {
  if (cron.enabled) await change(source, cron, { enabled: false, metadata: switchedMark(cron, copy) });
  await change(target, copy, { enabled: true, metadata: switched(copy) });
}

async function change(server: AgentServer, { cron_id }: Cron, fields: Record<string, unknown>): Promise<void> {
  await server.call('PATCH', `/runs/crons/${cron_id}`, fields);
}
