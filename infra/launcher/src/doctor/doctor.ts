import { stripVTControlCharacters } from 'node:util';
import { reasonOf } from '@runyard/local-infra';
import { readProject } from '@runyard/project';
import { oneLine } from '../one-line.ts';
import type { Check, DoctorContext, Finding } from './check.ts';
import { MACHINE_CHECKS } from './machine-checks.ts';
import { PROJECT_CHECKS } from './project-checks.ts';

/** Milliseconds after which a check is given up. */
const CHECK_MS = 25_000;

export interface DoctorReport {
  /** True when a start would find all that it needs. */
  ready: boolean;
  checks: ({ name: string } & Finding)[];
}

/**
 * Looks at everything that a start of the project needs, with the code that a start finds it with. Nothing is started,
 * fetched or written.
 */
export async function examine(options: Omit<DoctorContext, 'project'>): Promise<DoctorReport> {
  // The reason why it cannot be read is the finding of a check.
  const project = await readProject(options.folder, 'langgraph.json').catch(() => null);
  const context = { ...options, project };
  const all = [...MACHINE_CHECKS, ...PROJECT_CHECKS];
  const checks = await Promise.all(all.map(async (check) => ({ name: check.name, ...(await find(check, context)) })));
  return { ready: checks.every(({ status }) => status !== 'missing'), checks };
}

async function find(check: Check, context: DoctorContext): Promise<Finding> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding>((resolve) => {
    timer = setTimeout(() => resolve({ status: 'missing', message: `no answer in ${CHECK_MS / 1000} s` }), CHECK_MS);
  });
  try {
    return await Promise.race([check.look(context), late]);
  } catch (error) {
    // The sentence says what to do. The first line is that of a start, too, and further ones name one fault each.
    const message = error instanceof Error ? error.message.split('\n').join(' ') : reasonOf(error);
    return { status: 'missing', message };
  } finally {
    clearTimeout(timer);
  }
}

/** Formats a report for people, one line for each check. Names of files and packages are others' texts. */
export function formatReport({ ready, checks }: DoctorReport): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.map(({ name, status, message }) => {
    const line = `${status.padEnd('not needed'.length)}  ${name.padEnd(width)}  ${message}`;
    return oneLine(stripVTControlCharacters(line));
  });
  const missing = checks.filter(({ status }) => status === 'missing').length;
  const verdict = ready ? '`runyard dev` has what it needs.' : `${missing} missing: \`runyard dev\` would not start.`;
  return [...lines, '', verdict, ''].join('\n');
}

/** Characters that JSON may have as they are, and a terminal obeys. */
const UNESCAPED = /[\u007f-\u009f\u2028\u2029]/g;

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Formats a report for programs: an event for each check, and the result. */
export function formatEvents({ ready, checks }: DoctorReport): string {
  const events = [...checks.map((check) => ({ event: 'check', ...check })), { event: 'result', ready }];
  return events.map((event) => `${JSON.stringify(event).replace(UNESCAPED, escapeCharacter)}\n`).join('');
}
