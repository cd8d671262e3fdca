import type { AgentServer } from './agent-server.ts';
import { findDifference } from './compare.ts';
import { type CopyContext, copyEach } from './copy-context.ts';
import { type Cron, comparableCron, copyRequest, markOf, wasEnabled } from './crons.ts';

/**
 * Copies crons, disabled: none fires at both servers. With `isSwitched`, each is disabled at the source and only then
 * enabled at the target, if it was enabled at the source.
 *
 * @returns how many copies wait to be switched over
 */
export async function copyCrons(context: CopyContext, { isSwitched }: { isSwitched: boolean }): Promise<number> {
  const idOf = ({ cron_id }: Cron) => cron_id;
  const pages = context.source.search<Cron>('/runs/crons/search', { sort_by: 'created_at', sort_order: 'asc' });
  let waiting = 0;
  await copyEach(pages, context, idOf, async (cron) => {
    const copy = await copyCron(cron, context);
    if (!copy || copy.enabled || !wasEnabled(copy)) return;
    if (isSwitched && !context.isDryRun) await switchOver(cron, copy, context);
    else waiting += 1;
  });
  return waiting;
}

/** Returns the cron of the target, where there is one. */
async function copyCron(cron: Cron, context: CopyContext): Promise<Cron | undefined> {
  const { target, tally, isDryRun } = context;
  const { cron_id: id, thread_id } = cron;
  const [copy] = await target.call<Cron[]>('POST', '/runs/crons/search', { metadata: markOf(id), limit: 1 });
  if (copy) return count(cron, copy, 'present', context);
  const assistantId = await findAssistant(cron, context);
  if (assistantId === undefined) return void tally.add('skipped', id, 'the target does not have its assistant');
  if (thread_id && !(await target.find(`/threads/${thread_id}`))) {
    return void tally.add('skipped', id, 'the target does not have its thread');
  }
  if (isDryRun) return void tally.add('copied', id);
  const path = thread_id ? `/threads/${thread_id}/runs/crons` : '/runs/crons';
  // A second request would make a second cron. When the answer is lost, the next run finds the first one by its mark.
  const made = await target.call<Cron>('POST', path, copyRequest(cron, assistantId), { isRepeatable: false });
  return count(cron, made, 'copied', context);
}

function count(cron: Cron, copy: Cron, outcome: 'copied' | 'present', { tally }: CopyContext): Cron {
  const difference = findDifference(comparableCron(cron), comparableCron(copy), 'cron');
  if (difference === null) tally.add(outcome, cron.cron_id);
  else tally.add('different', cron.cron_id, `at the target it is another one, as ${difference} shows`);
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

/** Between the two requests the cron fires nowhere. When the command ends there, the next run goes on. */
async function switchOver(cron: Cron, copy: Cron, { source, target }: CopyContext): Promise<void> {
  if (cron.enabled) await setEnabled(source, cron, false);
  await setEnabled(target, copy, true);
}

async function setEnabled(server: AgentServer, { cron_id }: Cron, enabled: boolean): Promise<void> {
  await server.call('PATCH', `/runs/crons/${cron_id}`, { enabled });
}
