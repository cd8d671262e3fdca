import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { exportTo, importInto, type MoveFlags } from '../moving/move.ts';
import { KINDS, type Kind } from '../moving/tally.ts';
import { addConnectionOptions, collectHeader, jsonOption, parseNonEmptyText, parseWholeNumber } from './options.ts';

const HELP = `
Assistants, threads, items of the store and crons are read and written over the public API of both servers, and compared
afterwards. Run the command again to go on after it was interrupted, or to copy what is new. Runs are not copied.

Exit codes: 0 all is there, 1 something failed or differs, 2 wrong use, 3 not allowed, 4 no such deployment,
5 a server unreachable, 130 interrupted.`;

type Flags = Omit<MoveFlags, 'only' | 'metadata' | 'header'> & Partial<Pick<MoveFlags, 'only' | 'metadata' | 'header'>>;
interface ImportFlags extends Flags {
  from: string;
  fromApiKey?: string;
  fromHeader?: Record<string, string>;
}
interface ExportFlags extends Flags {
  to: string;
  toApiKey?: string;
  toHeader?: Record<string, string>;
}

/** Adds `import` and `export`. */
export function addMoveCommands(program: Command, context: CommandContext, end: (exitCode: number) => void): void {
  addMoveOptions(
    program
      .command('import')
      .summary('copy threads, assistants, crons and store items from a LangGraph server')
      .description('Copies threads, assistants, crons and store items from another server into a deployment.')
      .requiredOption('--from <url>', 'the server they are on', parseNonEmptyText)
      .option('--from-api-key <key>', 'its API key; better as RUNYARD_FROM_API_KEY')
      .option('--from-header <header>', 'of requests to it, as `name: value`; may be repeated', collectHeader),
  ).action(async ({ from: url, fromApiKey, fromHeader = {}, ...flags }: ImportFlags) => {
    const apiKey = fromApiKey ?? context.env.RUNYARD_FROM_API_KEY;
    end(await importInto(withDefaults(flags), { url, apiKey, headers: fromHeader }, context));
  });
  addMoveOptions(
    program
      .command('export')
      .summary('copy threads, assistants, crons and store items to a LangGraph server')
      .description('Copies threads, assistants, crons and store items of a deployment to another server.')
      .requiredOption('--to <url>', 'the server they go to', parseNonEmptyText)
      .option('--to-api-key <key>', 'its API key; better as RUNYARD_TO_API_KEY')
      .option('--to-header <header>', 'of requests to it, as `name: value`; may be repeated', collectHeader),
  ).action(async ({ to: url, toApiKey, toHeader = {}, ...flags }: ExportFlags) => {
    const apiKey = toApiKey ?? context.env.RUNYARD_TO_API_KEY;
    end(await exportTo(withDefaults(flags), { url, apiKey, headers: toHeader }, context));
  });
}

function addMoveOptions(command: Command): Command {
  return addConnectionOptions(
    command
      .requiredOption('--deployment <deployment>', 'its name, id or URL', parseNonEmptyText)
      .option('--header <header>', 'of requests to the deployment; may be repeated', collectHeader)
      .option('--only <kinds>', `some of ${KINDS.join(',')}`, parseKinds)
      .option('--metadata <json>', 'only threads whose metadata have all of this', parseObject)
      .option('--no-history', 'of threads, only the newest state')
      .option('--switch-crons', 'disable crons at the source and enable them at the target', false)
      .addOption(
        new Option('--concurrency <count>', 'how many are copied at once')
          .argParser(parseWholeNumber(1, 64))
          .default(8),
      )
      .option('--dry-run', 'write nothing: tell what would be copied', false)
      .addOption(jsonOption('events'))
      .addHelpText('after', HELP),
  );
}

function withDefaults({ only = KINDS, metadata = {}, header = {}, ...flags }: Flags): MoveFlags {
  return { ...flags, only, metadata, header };
}

function parseKinds(text: string): Kind[] {
  const wanted = text.split(',').map((kind) => kind.trim());
  const unknown = wanted.find((kind) => !KINDS.some((known) => known === kind));
  if (unknown !== undefined) throw new InvalidArgumentError(`${unknown || 'Nothing'} is none of ${KINDS.join(', ')}.`);
  return wanted as Kind[];
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // The sentence below says what it has to be.
  }
  throw new InvalidArgumentError('It is a JSON object, such as \'{"owner":"ada"}\'.');
}
