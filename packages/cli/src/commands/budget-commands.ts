import type { BudgetCreate, BudgetPatch } from '@runyard/contracts';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { addBudget, type BudgetFlags, changeBudget, listBudgets, removeBudget } from '../budgets/budgets.ts';
import type { CommandContext } from '../command-context.ts';
import { addConnectionOptions, jsonOption, parseNonEmptyText, parseUuid, parseWholeNumber } from './options.ts';

const CAP_MAX = 1_000_000_000_000;
const parseCap = parseWholeNumber(1, CAP_MAX);

const HELP = `
Examples:
  runyard deploy budgets add --deployment-id <id> --name "An end user" --per creator --period day --tokens 100000
  runyard deploy budgets add --workspace --name "The team" --per workspace --period month --tokens 50000000
  runyard deploy budgets change <budget id> --workspace --tokens 60000000 --runs none`;

interface TermFlags {
  name: string;
  per: BudgetCreate['subject'];
  id?: string;
  period: BudgetCreate['period'];
  tokens?: number;
  runs?: number;
  shadow: boolean;
  refuseWith: '402' | '429';
}

interface PatchFlags {
  name?: string;
  tokens?: number | 'none';
  runs?: number | 'none';
  mode?: 'enforced' | 'shadow';
  refuseWith?: '402' | '429';
}

/** Adds `deploy budgets list`, `add`, `change` and `remove`. */
export function addBudgetCommands(deploy: Command, context: CommandContext): void {
  const budgets = deploy
    .command('budgets')
    .description('Caps of tokens and runs, by hour, day or month.')
    .addHelpText('after', HELP);
  addScope(
    budgets.command('list').description('Lists budgets, the oldest first.').addOption(jsonOption('budgets')),
  ).action((flags) => listBudgets(flags, context));
  addScope(
    budgets
      .command('add')
      .description('Makes a budget.')
      .requiredOption('--name <text>', 'clients that are refused are shown it', parseNonEmptyText)
      .addOption(
        new Option('--per <whom>', 'whose use is counted together')
          .choices(['workspace', 'deployment', 'assistant', 'creator', 'key'])
          .makeOptionMandatory(),
      )
      .option('--id <id>', 'one assistant, creator or key alone; without it each has such a budget', parseNonEmptyText)
      .addOption(new Option('--period <time>', 'in UTC').choices(['hour', 'day', 'month']).makeOptionMandatory())
      .option('--tokens <count>', 'so many tokens of models', parseCap)
      .option('--runs <count>', 'so many runs', parseCap)
      .option('--shadow', 'only count: the log says what would be refused', false)
      .addOption(refusalOption().default('429')),
  ).action((flags: BudgetFlags & TermFlags) => addBudget({ ...flags, terms: termsOf(flags) }, context));
  addScope(
    budgets
      .command('change')
      .description('Changes a budget; what it has counted stays.')
      .argument('<budget-id>', 'the budget', parseUuid)
      .option('--name <text>', 'another name', parseNonEmptyText)
      .option('--tokens <count|none>', 'so many tokens of models', parseCapOrNone)
      .option('--runs <count|none>', 'so many runs', parseCapOrNone)
      .addOption(new Option('--mode <mode>', 'enforce it, or only count').choices(['enforced', 'shadow']))
      .addOption(refusalOption()),
  ).action((id: string, flags: BudgetFlags & PatchFlags) =>
    changeBudget(id, { ...flags, patch: patchOf(flags) }, context),
  );
  addScope(
    budgets
      .command('remove')
      .description('Removes a budget, with what it has counted.')
      .argument('<budget-id>', 'the budget', parseUuid),
  ).action((id: string, flags: BudgetFlags) => removeBudget(id, flags, context));
}

function addScope(command: Command): Command {
  return addConnectionOptions(
    command
      .option('--deployment-id <id>', 'of this deployment', parseNonEmptyText)
      .option('--workspace', 'of the workspace, for all its deployments', false),
  );
}

const refusalOption = () =>
  new Option('--refuse-with <status>', 'the status of what is refused').choices(['402', '429']);

/** Parses a cap; `none` removes it. */
function parseCapOrNone(text: string): number | 'none' {
  if (text === 'none') return text;
  try {
    return parseCap(text);
  } catch {
    throw new InvalidArgumentError(`It is \`none\`, or a whole number from 1 to ${CAP_MAX}.`);
  }
}

function termsOf({ name, per: subject, id, period, tokens, runs, shadow, refuseWith }: TermFlags): BudgetCreate {
  return {
    ...{
      name,
      subject,
      period,
      mode: shadow ? 'shadow' : 'enforced',
      refusal_status: refuseWith === '402' ? 402 : 429,
    },
    ...(id !== undefined && { subject_id: id }),
    ...(tokens !== undefined && { tokens_max: tokens }),
    ...(runs !== undefined && { runs_max: runs }),
  };
}

function patchOf({ name, tokens, runs, mode, refuseWith }: PatchFlags): BudgetPatch {
  return {
    ...(name !== undefined && { name }),
    ...(tokens !== undefined && { tokens_max: tokens === 'none' ? null : tokens }),
    ...(runs !== undefined && { runs_max: runs === 'none' ? null : runs }),
    ...(mode !== undefined && { mode }),
    ...(refuseWith !== undefined && { refusal_status: refuseWith === '402' ? 402 : 429 }),
  };
}
