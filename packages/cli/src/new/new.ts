import { relative, resolve } from 'node:path';
import { quote } from '@runyard/package-managers';
import { CliError, ExitCode } from '../cli-error.ts';
import type { CommandContext } from '../command-context.ts';
import { Questions } from '../connection/questions.ts';
import { createPainter } from '../output/colours.ts';
import { formatTable } from '../output/table.ts';
import { makeProject, requireEmpty } from './make-project.ts';
import { LANGUAGES, TEMPLATES } from './templates.ts';

export interface NewFlags {
  template?: string;
  language?: string;
  list?: boolean;
  /** False with `--no-input`. */
  input: boolean;
}

const DEFAULT_FOLDER = 'my-agent';

/** Makes a project from a template, and asks for what the command line does not say. */
export async function makeNewProject(
  directory: string | undefined,
  flags: NewFlags,
  context: CommandContext,
): Promise<void> {
  const { cwd, stdout, interrupted } = context;
  if (flags.list) {
    const languages = LANGUAGES.map(({ name }) => name).join(', ');
    const rows = TEMPLATES.map(({ name, description }) => [name, languages, description]);
    stdout.write(`${formatTable(['TEMPLATE', 'LANGUAGE', 'WHAT IT IS'], rows)}\n`);
    return;
  }
  const questions = new Questions(context, flags.input);
  const folder = resolve(cwd, directory ?? (await askFolder(questions)));
  // A folder that cannot be used is told before anybody answers the questions.
  await requireEmpty(folder);
  const template = await choose(TEMPLATES, 'template', flags.template, questions, context);
  const language = await choose(LANGUAGES, 'language', flags.language, questions, context);
  await makeProject(folder, template, language, interrupted);

  const way = relative(cwd, folder);
  const steps = [...(way === '' ? [] : [`cd ${quote(way)}`]), language.install, 'runyard dev'];
  const painted = createPainter(stdout);
  stdout.write(
    [
      painted('green', `Made a project from ${template.name} in ${quote(way || '.')}. Run it:`),
      '',
      ...steps.map((step) => `  ${step}`),
      '',
      'Its README.md has a first conversation, and says how to use a real model.',
      '',
    ].join('\n'),
  );
}

async function askFolder(questions: Questions): Promise<string> {
  if (questions.isInteractive) return (await questions.ask(`Folder [${DEFAULT_FOLDER}]`)) ?? DEFAULT_FOLDER;
  throw new CliError('Name the folder of the project: runyard new DIR.', ExitCode.usage);
}

interface Choice {
  readonly name: string;
  readonly description: string;
}

/** Returns the chosen one; asks until an answer is the name or the number of one, or empty, which is the first. */
async function choose<T extends Choice>(
  choices: readonly [T, ...T[]],
  what: 'template' | 'language',
  chosen: string | undefined,
  questions: Questions,
  { stderr, interrupted }: CommandContext,
): Promise<T> {
  const find = (answer: string) => choices.find(({ name }, index) => answer === name || answer === String(index + 1));
  const given = chosen === undefined ? undefined : find(chosen);
  if (given) return given;
  const names = choices.map(({ name }) => name);
  if (!questions.isInteractive) {
    throw new CliError(`Name the ${what} with --${what}: ${names.join(', ')}.`, ExitCode.usage);
  }
  const width = Math.max(...names.map((name) => name.length));
  stderr.write(
    choices.map(({ name, description }, at) => `  ${at + 1}  ${name.padEnd(width)}  ${description}\n`).join(''),
  );
  for (;;) {
    interrupted.throwIfAborted();
    const answer = await questions.ask(`${what === 'template' ? 'Template' : 'Language'} [${names[0]}]`);
    const found = find(answer ?? choices[0].name);
    if (found) return found;
  }
}
