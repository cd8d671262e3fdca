import type { Fields } from '../../http/fields.ts';
import type { McpCall } from '../call.ts';
import { type Interrupt, type Question, questionsOf, readAnswer, resumeWith } from '../calls/questions.ts';
import type { RequestStates, StatePlace } from '../calls/request-states.ts';
import { toToolResult } from '../calls/tool-result.ts';
import type { ToolRun, ToolRuns } from '../calls/tool-runs.ts';
import type { McpClient } from '../protocol/client.ts';
import { invalidParams, missingCapability } from '../protocol/mcp-error.ts';
import type { FoundTask, ToolTasks } from './tool-tasks.ts';

/** The next step of a call that asked: another run, or a result: the rest of the questions, or the end of the call. */
export type Resumed = { kind: 'runs'; run: ToolRun } | { kind: 'asks'; run?: undefined; result: object };

/**
 * Calls of the new revision that wait for their users. A call that asks is over; its client calls again with the
 * answers and with the state that it was given.
 */
export class WaitingCalls {
  readonly #states: RequestStates;
  readonly #tasks: ToolTasks;
  readonly #runs: ToolRuns;

  constructor(options: { states: RequestStates; tasks: ToolTasks; runs: ToolRuns }) {
    this.#states = options.states;
    this.#tasks = options.tasks;
    this.#runs = options.runs;
  }

  /** Returns the result that asks. @throws McpError for a client that cannot ask its user */
  ask(
    client: Pick<McpClient, 'asksUser'>,
    place: StatePlace | undefined,
    { taskId, runId }: Pick<ToolRun, 'taskId' | 'runId'>,
    interrupts: readonly Interrupt[],
    answers: Fields = {},
  ): object {
    if (!client.asksUser || place === undefined) throw missingCapability({ elicitation: { form: {} } });
    const open = questionsOf(interrupts).filter(({ interruptId }) => !Object.hasOwn(answers, interruptId));
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(open.map(({ key, params }) => [key, { method: 'elicitation/create', params }])),
      requestState: this.#states.seal(place, { taskId, runId, answers }),
    };
  }

  /** Goes on with a call. @throws McpError for a state of something else, and one that was answered before */
  async resume(call: McpCall, place: StatePlace, sealed: string, responses: Fields): Promise<Resumed> {
    const { taskId, runId, answers } = this.#states.open(place, sealed);
    const found = await this.#tasks.require(call, taskId, 'create_run');
    const { task } = found;
    const interrupts = task.runId === runId ? await this.#tasks.interruptsOf(found, call.request.signal) : [];
    if (interrupts.length === 0) throw answered();
    const all: Fields = { ...answers };
    for (const question of questionsOf(interrupts)) {
      const given = this.#read(responses, question);
      if (given.kind === 'refused') return this.#refuse(call, found);
      if (given.kind === 'given') all[question.interruptId] = given.value;
    }
    if (!interrupts.every(({ id }) => Object.hasOwn(all, id))) {
      return { kind: 'asks', result: this.ask(call.client, place, task, interrupts, all) };
    }
    const run = await this.#runs.resume(call.request, task, resumeWith(interrupts, all));
    if (!run) throw answered();
    return { kind: 'runs', run };
  }

  #read(responses: Fields, question: Question) {
    return readAnswer(Object.hasOwn(responses, question.key) ? responses[question.key] : undefined, question);
  }

  async #refuse({ client }: McpCall, found: FoundTask): Promise<Resumed> {
    await this.#tasks.cancel(found);
    return { kind: 'asks', result: toToolResult({ kind: 'cancelled' }, client) };
  }
}

function answered() {
  return invalidParams('The question of requestState was answered before, or the call has ended');
}
