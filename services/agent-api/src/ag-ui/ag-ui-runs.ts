import { isDeepStrictEqual } from 'node:util';
import type { AgUiInput } from '@runyard/contracts';
import type { IdempotencyKeys, KeyedRequest } from '@runyard/idempotency';
import type { RunRecord } from '@runyard/run-engine';
import { type ByteBudget, ClientDisconnectedError, type HandlerRequest, NotFoundError } from '@runyard/service-kit';
import { isRestricted, type Scope, UNRESTRICTED } from '../access/scope.ts';
import type { AssistantRecord } from '../assistants/assistant-record.ts';
import type { AssistantService } from '../assistants/assistant-service.ts';
import type { InputKeys } from '../assistants/input-keys.ts';
import type { Authorizer } from '../auth/authorizer.ts';
import { userOf } from '../auth/user-caller.ts';
import { STREAM_MODES } from '../event-protocol/run-commands.ts';
import { closedAnswer } from '../http/closed-answer.ts';
import type { Fields } from '../http/fields.ts';
import type { PickHeaders } from '../http/header-choice.ts';
import { type AskedRun, askAboutRun } from '../protocols/ask-about-run.ts';
import type { RunOrigin } from '../runs/accepted-run.ts';
import { requestOrigin } from '../runs/request-origin.ts';
import type { RunRequest } from '../runs/run-arguments.ts';
import { isEnded } from '../runs/run-result.ts';
import { holdContent } from '../runs/run-results.ts';
import type { RunService } from '../runs/run-service.ts';
import { parseStoredJson } from '../threads/parse-stored-json.ts';
import { pendingInterrupts } from '../threads/pending-interrupts.ts';
import type { StoredThread } from '../threads/stored-thread.ts';
import type { ThreadStore } from '../threads/thread-store.ts';
import { isAnswer, planRun, type RunPlan } from './input/plan-run.ts';
import { threadIdOf } from './thread-ids.ts';

export interface AgUiRunsOptions {
  assistants: Pick<AssistantService, 'find'>;
  inputKeys: Pick<InputKeys, 'of'>;
  threads: Pick<ThreadStore, 'find' | 'findWithInterrupts' | 'findWithoutState' | 'stateBytesOf'>;
  runs: Pick<RunService, 'create' | 'find'>;
  /** Bytes of all large results that answers of this process hold. */
  budget: ByteBudget;
  keys: Pick<IdempotencyKeys, 'onceNamed' | 'findNamed'>;
  configurableHeaders: PickHeaders;
  /** Left out where the project does not decide about callers. */
  authorizer: Pick<Authorizer, 'authorize'> | undefined;
}

/** A request about a run of an assistant, by the names that the client has for it. */
export interface AgUiCall {
  /** The assistant of the path: its id, or a graph's. */
  assistant: string;
  request: Pick<HandlerRequest, 'caller' | 'headers' | 'res'>;
  threadId: string;
  runId: string;
  /** True when the client goes on with a stream that was cut: its answer, if it sends one again, has been counted. */
  goesOn: boolean;
}

/** A run that a client follows. */
export interface FollowedAgUiRun {
  threadId: string;
  runId: string;
  /** True when it had ended before the request. */
  isEnded: boolean;
  /** True when the request has started it: its client can have none of its events. */
  isNew: boolean;
}

/** The outcome of a request: a run, or the answer that there is none. */
export type AgUiOutcome =
  | { kind: 'run'; run: FollowedAgUiRun }
  | { kind: Exclude<RunPlan['kind'], 'run'>; values: unknown };

interface AgUiCreation {
  call: AgUiCall;
  assistant: AssistantRecord;
  threadId: string;
  keyed: KeyedRequest | undefined;
}

/** The run that a client's names stand for, as it is kept with them. */
type Location = Pick<FollowedAgUiRun, 'threadId' | 'runId'>;
type Asked = 'assistants:read' | 'threads:read' | 'threads:create_run';

/** A state is in memory as text and as what that says. */
const COPIES = 2;
const MISSING = 'Thread or run not found';
const RUN_FIELDS: Partial<RunRequest> = {
  stream_mode: STREAM_MODES,
  stream_subgraphs: true,
  stream_resumable: true,
};

/**
 * Starts and finds the runs of clients of AG-UI. A client names its runs: a request with the names of an earlier one
 * joins its run, also when both come at once. Some clients give the answer to an interrupt the names of the run that
 * asked: it starts a run, which goes by these names from then on.
 */
export class AgUiRuns {
  readonly #options: AgUiRunsOptions;

  constructor(options: AgUiRunsOptions) {
    this.#options = options;
  }

  /** @throws NotFoundError, UnprocessableError, ConflictError, and what the project throws */
  async start(call: AgUiCall, input: AgUiInput): Promise<AgUiOutcome> {
    const assistant = await this.#assistant(call);
    const { threadId, name } = namesOf(call, assistant);
    const createOnce = (ofRun: readonly string[]) =>
      this.#options.keys.onceNamed<AgUiOutcome | Location, Location>(ofRun, {
        create: (keyed) => this.#create({ call, assistant, threadId, keyed }, input),
        repeat: (location) => location,
      });
    const outcome = await createOnce(name);
    if ('kind' in outcome) return outcome;
    const newest = await this.#newestAfter(name, outcome);
    const run = await this.#find(call, newest);
    if (!run.isEnded || call.goesOn || !isAnswer(input)) return { kind: 'run', run };
    if (!(await this.#isWaiting(threadId))) {
      // The same answer may have come twice at once, and started a run since.
      return { kind: 'run', run: await this.#find(call, await this.#newestAfter(name, newest)) };
    }
    const answered = await createOnce(nameAfter(name, newest));
    return 'kind' in answered ? answered : { kind: 'run', run: await this.#find(call, answered) };
  }

  /** @throws NotFoundError, and what the project throws */
  async join(call: AgUiCall): Promise<FollowedAgUiRun> {
    const { name } = namesOf(call, await this.#assistant(call));
    const first = await this.#options.keys.findNamed<Location>(name);
    if (!first) throw new NotFoundError(MISSING);
    return this.#find(call, await this.#newestAfter(name, first));
  }

  /** Returns the newest run of the same names: each but the first is the answer to the one before it. */
  async #newestAfter(name: readonly string[], first: Location): Promise<Location> {
    let newest = first;
    for (;;) {
      const next = await this.#options.keys.findNamed<Location>(nameAfter(name, newest));
      if (!next) return newest;
      newest = next;
    }
  }

  async #isWaiting(threadId: string): Promise<boolean> {
    const thread = await this.#options.threads.findWithInterrupts(UNRESTRICTED, threadId);
    return thread !== undefined && pendingInterrupts(thread).size > 0;
  }

  async #find(call: AgUiCall, { threadId, runId }: Location): Promise<FollowedAgUiRun> {
    const { scope } = await this.#ask(call, 'threads:read', { thread_id: threadId });
    const run = await this.#options.runs.find(scope, threadId, runId);
    return { threadId, runId, isEnded: isEnded(run), isNew: false };
  }

  async #assistant(call: AgUiCall): Promise<AssistantRecord> {
    const { scope } = await this.#ask(call, 'assistants:read', { assistant_id: call.assistant });
    return this.#options.assistants.find(scope, call.assistant);
  }

  async #create(about: AgUiCreation, input: AgUiInput): Promise<AgUiOutcome> {
    const { call, assistant, threadId, keyed } = about;
    const { threads, runs, inputKeys } = this.#options;
    const keys = await inputKeys.of(assistant);
    // The project is asked about the request as it came, before the thread's state is read: and again where that leads
    // to another run.
    const asSent = planRun(input, { pending: new Set(), values: undefined, keys });
    const first = await this.#askAbout(about, asSent);
    const { plan, hasThread } = await this.#plan(about, input, { keys, scope: first.scope });
    const isAsSent = isDeepStrictEqual(plan, asSent);
    const { scope, run } = isAsSent ? first : await this.#askAbout(about, plan);
    if (!isAsSent && hasThread && isRestricted(scope) && !(await threads.findWithoutState(scope, threadId))) {
      throw new NotFoundError(MISSING);
    }
    if (plan.kind !== 'run') {
      const thread = await this.#read(scope, threadId, closedAnswer(call.request.res));
      return { kind: plan.kind, values: valuesOf(thread) };
    }
    const origin: RunOrigin = {
      ...requestOrigin(call.request, this.#options.configurableHeaders),
      threadId,
      scope,
      assistantScope: UNRESTRICTED,
      eventProtocol: 'v2',
    };
    const { runId } = await runs.create(
      origin,
      { ...run, ...RUN_FIELDS },
      keyed && { request: keyed, answerOf: locationOf },
    );
    return { kind: 'run', run: { threadId, runId, isEnded: false, isNew: true } };
  }

  #askAbout({ call, assistant, threadId }: AgUiCreation, plan: RunPlan) {
    return askAboutRun(({ event, value }) => this.#ask(call, event, value), {
      run: runOf(plan, call, { assistant, threadId }),
      threadId,
    });
  }

  /** Plans a run by the state of its thread, which has room only meanwhile. */
  async #plan(
    { call, threadId }: AgUiCreation,
    input: AgUiInput,
    { keys, scope }: { keys: ReadonlySet<string> | undefined; scope: Scope },
  ) {
    const read = new AbortController();
    const until = AbortSignal.any([closedAnswer(call.request.res), read.signal]);
    try {
      const thread = await this.#read(scope, threadId, until);
      const pending = thread ? pendingInterrupts(thread) : new Set<string>();
      const plan = planRun(input, { pending, values: valuesOf(thread), keys });
      return { plan, hasThread: thread !== undefined };
    } finally {
      read.abort();
    }
  }

  /** Reads a thread when there is room for its state, which it has until the signal. @throws ClientDisconnectedError */
  async #read(scope: Scope, threadId: string, until: AbortSignal): Promise<StoredThread | undefined> {
    const { threads, budget } = this.#options;
    const bytes = (await threads.stateBytesOf(threadId)) * COPIES;
    if (!(await holdContent(budget, bytes, until))) throw new ClientDisconnectedError();
    return threads.find(scope, threadId);
  }

  async #ask({ request: { caller } }: AgUiCall, event: Asked, value: Fields) {
    const { authorizer } = this.#options;
    return authorizer ? authorizer.authorize(caller, event, value) : { scope: UNRESTRICTED, value };
  }
}

/** Returns the id of a call's thread, and the name under which its run is kept: nobody else can have it. */
function namesOf({ request, threadId: thread, runId }: AgUiCall, { assistantId }: AssistantRecord) {
  const user = userOf(request.caller)?.identity ?? '';
  const threadId = threadIdOf(thread, user);
  return { threadId, name: ['ag-ui', user, assistantId, threadId, runId] };
}

/** Returns the name of the run that answers a run of a name. */
function nameAfter(name: readonly string[], { runId }: Location): string[] {
  return [...name, runId];
}

function locationOf({ threadId, runId }: RunRecord): Location {
  return { threadId, runId };
}

function valuesOf(thread: StoredThread | undefined): unknown {
  return thread?.values ? parseStoredJson(thread.values) : undefined;
}

/** Returns the run that a plan asks for. The thread remembers the name by which its client knows it. */
function runOf(
  plan: RunPlan,
  call: AgUiCall,
  { assistant, threadId }: { assistant: AssistantRecord; threadId: string },
): AskedRun {
  const metadata = call.threadId.toLowerCase() === threadId ? {} : { ag_ui_thread_id: call.threadId };
  const request = plan.kind === 'run' ? plan.request : {};
  return { ...request, assistant_id: assistant.assistantId, if_not_exists: 'create', metadata };
}
