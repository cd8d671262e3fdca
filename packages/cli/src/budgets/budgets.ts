import type { Budget, BudgetCreate, BudgetPatch } from '@runyard/contracts';
import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { type ConnectionFlags, withControlPlane } from '../connection/connect.ts';
import type { BudgetScope } from '../connection/control-plane.ts';
import { toPlainLine } from '../output/plain-text.ts';
import { formatTable } from '../output/table.ts';

export interface BudgetFlags extends ConnectionFlags {
  deploymentId?: string;
  workspace: boolean;
}

/** Shows the budgets of a deployment or of the workspace. */
export async function listBudgets(flags: BudgetFlags & { json: boolean }, context: CommandContext): Promise<void> {
  const scope = scopeOf(flags);
  const budgets = await withControlPlane(flags, context, ({ controlPlane }) => controlPlane.listBudgets(scope));
  const { stdout } = context;
  if (flags.json) {
    for (const budget of budgets) stdout.write(`${JSON.stringify(budget)}\n`);
  } else if (budgets.length === 0) {
    stdout.write('There are no budgets.\n');
  } else {
    const rows = budgets.map((budget) => [
      budget.id,
      toPlainLine(budget.name),
      countedOf(budget),
      capsOf(budget),
      budget.mode,
      String(budget.refusal_status),
      reachOf(budget),
    ]);
    stdout.write(`${formatTable(['ID', 'NAME', 'COUNTS', 'CAPS', 'MODE', 'REFUSES', 'REACHED'], rows)}\n`);
  }
}

/** Makes a budget. @throws CliError without a cap */
export async function addBudget(
  { terms, ...flags }: BudgetFlags & { terms: BudgetCreate },
  context: CommandContext,
): Promise<void> {
  const scope = scopeOf(flags);
  if (terms.tokens_max === undefined && terms.runs_max === undefined)
    throw new CliError('A budget caps something: --tokens, --runs or both.', ExitCode.usage);
  await withControlPlane(flags, context, async ({ controlPlane }) =>
    reportBudget('made', await controlPlane.createBudget(scope, terms), context),
  );
}

/** Changes a budget. @throws CliError when nothing is to change, or no cap would be left */
export async function changeBudget(
  id: string,
  { patch, ...flags }: BudgetFlags & { patch: BudgetPatch },
  context: CommandContext,
): Promise<void> {
  const scope = scopeOf(flags);
  if (Object.keys(patch).length === 0)
    throw new CliError('Say what is to change: --name, --tokens, --runs, --mode or --refuse-with.', ExitCode.usage);
  // The platform alone knows whether removing one of the two leaves the other.
  if (patch.tokens_max === null && patch.runs_max === null)
    throw new CliError('A budget caps something: keep --tokens, --runs or both, or remove it.', ExitCode.usage);
  await withControlPlane(flags, context, async ({ controlPlane }) =>
    reportBudget('changed', await controlPlane.patchBudget(scope, id, patch), context),
  );
}

/** Removes a budget, with what it has counted. */
export async function removeBudget(id: string, flags: BudgetFlags, context: CommandContext): Promise<void> {
  const scope = scopeOf(flags);
  await withControlPlane(flags, context, ({ controlPlane }) => controlPlane.deleteBudget(scope, id));
  context.stdout.write(`The budget ${id} is removed.\n`);
}

/** @throws CliError unless one thing is named */
function scopeOf({ deploymentId, workspace }: BudgetFlags): BudgetScope {
  if (workspace === (deploymentId !== undefined))
    throw new CliError('Name one thing: --deployment-id or --workspace.', ExitCode.usage);
  return deploymentId === undefined ? 'workspace' : { deploymentId };
}

function reportBudget(done: string, budget: Budget, { stdout }: CommandContext): void {
  const name = toPlainLine(budget.name);
  stdout.write(`The budget ${name} (${budget.id}) is ${done}: ${capsOf(budget)}, ${countedOf(budget)}.\n`);
  if (budget.is_reached) return;
  stdout.write(`Not in force yet: ${toPlainLine(budget.message ?? 'a deployment has not confirmed it')}\n`);
}

function countedOf({ subject, subject_id: id, deployment_id: deploymentId }: Budget): string {
  if (subject === 'workspace') return 'the workspace';
  // The platform refuses NUL alone in it, so it may hold what a terminal obeys.
  if (id !== null) return `${subject} ${toPlainLine(id)}`;
  return subject === 'deployment' && deploymentId !== null ? 'the deployment' : `each ${subject}`;
}

function capsOf({ tokens_max: tokens, runs_max: runs, period }: Budget): string {
  const caps = [
    ...(tokens === null ? [] : [`${tokens.toLocaleString('en')} tokens`]),
    ...(runs === null ? [] : [`${runs.toLocaleString('en')} runs`]),
  ];
  return `${caps.join(' and ')} ${period === 'hour' ? 'an' : 'a'} ${period}`;
}

function reachOf({ is_reached: isReached, message }: Budget): string {
  if (isReached) return 'yes';
  return message === null ? 'no' : `no: ${toPlainLine(message)}`;
}
