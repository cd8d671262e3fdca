import { type AgUiInput, Command, formatPath, RunConfig, validatorOf } from '@runyard/contracts';
import { UnprocessableError } from '@runyard/service-kit';
import type { Static, TSchema } from 'typebox';
import { type Fields, isFields } from '../../http/fields.ts';
import type { RunRequest } from '../../runs/run-arguments.ts';
import { type InputTarget, toConfigurable, toGraphInput } from './graph-input.ts';

/** The work that an input asks for. */
export type RunPlan =
  | { kind: 'run'; request: Pick<RunRequest, 'input' | 'command' | 'config' | 'multitask_strategy'> }
  /** It repeats answers that were given, and brings nothing new: the thread is as the client wants it. */
  | { kind: 'nothing' }
  /** These interrupts of the thread are not answered. */
  | { kind: 'unanswered'; interruptIds: string[] };

export interface PlanTarget extends InputTarget {
  /** The interrupts that wait for an answer. */
  pending: ReadonlySet<string>;
}

/** The answer to an interrupt that the user has turned down, as graphs know it from other servers of AG-UI. */
const CANCELLED = '__agui_cancelled__';

/** Returns whether an input answers interrupts, in the new form or in the older one. */
export function isAnswer({ resume, forwardedProps }: AgUiInput): boolean {
  const command = isFields(forwardedProps) ? forwardedProps.command : undefined;
  return (resume ?? []).length > 0 || (isFields(command) && command.resume !== undefined);
}

/** Returns what is to be done for an input. @throws UnprocessableError */
export function planRun(sent: AgUiInput, target: PlanTarget): RunPlan {
  const props = isFields(sent.forwardedProps) ? sent.forwardedProps : {};
  const command = read(Command, props.command, 'forwardedProps.command');
  const config = configOf(sent, props);
  if (target.pending.size > 0) {
    const resume = resumeOf(sent, command, target.pending);
    if ('interruptIds' in resume) return { kind: 'unanswered', ...resume };
    return { kind: 'run', request: { command: { ...command, ...resume }, config, multitask_strategy: 'reject' } };
  }
  const { input, hasNews } = toGraphInput(sent, target);
  const { resume: _given, ...rest } = command ?? {};
  if (isAnswer(sent) && !hasNews) return { kind: 'nothing' };
  return { kind: 'run', request: { input, config, ...(Object.keys(rest).length > 0 && { command: rest }) } };
}

/**
 * Returns the answers to all interrupts that wait, or those without one. Answers to others are left out; the older form
 * is one answer for whatever waits.
 */
function resumeOf(
  { resume: entries }: AgUiInput,
  command: Command | undefined,
  pending: ReadonlySet<string>,
): { resume: unknown } | { interruptIds: string[] } {
  if (!entries || entries.length === 0) {
    return command?.resume === undefined ? { interruptIds: [...pending] } : { resume: parsedText(command.resume) };
  }
  const answers = new Map(
    entries.map(({ interruptId, status, payload = null }): [string, unknown] => [
      interruptId,
      status === 'resolved' ? payload : { [CANCELLED]: true, interrupt_id: interruptId },
    ]),
  );
  const interruptIds = [...pending].filter((id) => !answers.has(id));
  if (interruptIds.length > 0) return { interruptIds };
  return { resume: Object.fromEntries([...pending].map((id) => [id, answers.get(id)])) };
}

/** Clients of the older form send texts, which may be JSON. */
function parsedText(answer: unknown): unknown {
  if (typeof answer !== 'string') return answer;
  try {
    return JSON.parse(answer);
  } catch {
    return answer;
  }
}

function configOf(sent: AgUiInput, props: Fields): RunRequest['config'] {
  const config = read(RunConfig, props.config, 'forwardedProps.config');
  const offered = toConfigurable(sent);
  if (Object.keys(offered).length === 0) return config;
  return { ...config, configurable: { ...config?.configurable, ...offered } };
}

/** Checks a field that may be missing. @throws UnprocessableError */
function read<T extends TSchema>(schema: T, value: unknown, place: string): Static<T> | undefined {
  if (value === undefined || value === null) return undefined;
  const result = validatorOf(schema)(value);
  if (result.ok) return result.value;
  const faults = result.issues.map(({ path, message }) => `${formatPath([place, ...path])} ${message}`);
  throw new UnprocessableError(faults.join('; '));
}
