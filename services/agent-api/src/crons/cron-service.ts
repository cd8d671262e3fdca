import {
  type Cron,
  type CronCountRequest,
  type CronCreate,
  type CronPatch,
  type CronSearch,
  withoutReservedMetadata,
} from '@runyard/contracts';
import type { KeyedRequest } from '@runyard/idempotency';
import { type CronCreator, type CronRecord, InvalidScheduleError, parseSchedule } from '@runyard/run-engine';
import { BadRequestError, NotFoundError, UnprocessableError } from '@runyard/service-kit';
import { v7 as uuidv7 } from 'uuid';
import { isRestricted, outOfScope, type Scope, withinScope } from '../access/scope.ts';
import type { AssistantLookup, RunAssistant } from '../assistants/assistant-lookup.ts';
import type { Page } from '../http/pagination.ts';
import { newThreadOf, type RunOrigin } from '../runs/accepted-run.ts';
import { requireOneConfiguration } from '../runs/run-arguments.ts';
import type { ThreadStore } from '../threads/thread-store.ts';
import type { WebhookTargets } from '../webhooks/webhook-targets.ts';
import { type CronPayload, mergePayload, payloadOf } from './cron-payload.ts';
import type { CronSettings, CronStore } from './cron-store.ts';
import { selectCronFields, toWireCron } from './cron-wire.ts';

export interface CronServiceOptions {
  store: CronStore;
  assistants: Pick<AssistantLookup, 'find'>;
  threads: Pick<ThreadStore, 'findWithoutState'>;
  webhooks: Pick<WebhookTargets, 'accept'>;
  /** Notifies the schedulers: a cron's next slot may be sooner than any known before. */
  onScheduled: () => void;
}

/** The creator of a cron and the thread of its runs. */
export interface CronOrigin extends Pick<RunOrigin, 'scope' | 'assistantScope' | 'threadId' | 'userId' | 'user'> {
  /** The crons of the caller. */
  cronScope: Scope;
}

export class CronService {
  readonly #options: CronServiceOptions;

  constructor(options: CronServiceOptions) {
    this.#options = options;
  }

  /** @throws NotFoundError, UnprocessableError, BadRequestError */
  async create(origin: CronOrigin, request: CronCreate, keyed?: KeyedRequest): Promise<Cron> {
    if (origin.threadId !== undefined) requireThreadKept(request);
    const settings: CronSettings = {
      schedule: request.schedule,
      timezone: request.timezone ?? null,
      endTime: timeOf(request.end_time),
      enabled: isEnabled(request) ?? true,
      onRunCompleted: origin.threadId === undefined ? (request.on_run_completed ?? 'delete') : null,
      payload: payloadOf(request),
      metadata: withinScope(withoutReservedMetadata(request.metadata ?? {}), origin.cronScope),
    };
    requireValidSettings(settings);
    await this.#options.webhooks.accept(request.webhook);
    const assistant = await this.#requireRunnable(origin, request.assistant_id, settings.metadata);
    const cron = {
      ...settings,
      cronId: uuidv7(),
      assistantId: assistant.assistantId,
      threadId: origin.threadId ?? null,
      userId: origin.userId,
      creator: creatorOf(origin),
    };
    const made = await this.#options.store.insert(cron, toWireCron, keyed);
    this.#options.onScheduled();
    return made;
  }

  /** @throws NotFoundError */
  async get(scope: Scope, cronId: string): Promise<Cron> {
    return toWireCron(requireCron(cronId, await this.#options.store.find(scope, cronId)));
  }

  /**
   * Changes a cron in the caller's scope. A user of the project who changes what its runs do makes them from then on:
   * nobody makes another user's runs do something. @throws NotFoundError, UnprocessableError, BadRequestError
   */
  async patch(origin: CronOrigin, cronId: string, request: CronPatch): Promise<Cron> {
    if (Object.keys(request).length === 0) throw new BadRequestError('Request body cannot be empty');
    if ('next_run_date' in request)
      throw new UnprocessableError('next_run_date follows from the schedule, and cannot be set');
    const { cronScope: scope } = origin;
    const enabled = isEnabled(request);
    const endTime = request.end_time === undefined ? undefined : timeOf(request.end_time);
    await this.#options.webhooks.accept(request.webhook);
    const isTakenOver = origin.user !== undefined && Object.keys(payloadOf(request)).length > 0;
    if (isTakenOver) await this.#requireTakeover(origin, cronId, request);
    const change = (cron: CronRecord) => {
      if (cron.threadId !== null) requireThreadKept(request);
      const settings: CronSettings = {
        schedule: request.schedule ?? cron.schedule,
        timezone: request.timezone === undefined ? cron.timezone : request.timezone,
        endTime: endTime === undefined ? cron.endTime : endTime,
        enabled: enabled ?? cron.enabled,
        onRunCompleted: cron.threadId === null ? (request.on_run_completed ?? cron.onRunCompleted) : null,
        payload: mergePayload(cron.payload as CronPayload, request),
        metadata: withinScope({ ...cron.metadata, ...withoutReservedMetadata(request.metadata ?? {}) }, scope),
      };
      requireValidSettings(settings);
      return settings;
    };
    const changed = await this.#options.store.update(scope, cronId, change, isTakenOver ? creatorOf(origin) : null);
    this.#options.onScheduled();
    return toWireCron(requireCron(cronId, changed));
  }

  /** @throws NotFoundError */
  async delete(scope: Scope, cronId: string): Promise<void> {
    if (!(await this.#options.store.delete(scope, cronId))) throw cronNotFound(cronId);
  }

  /** @param until the signal that its answer is complete @throws UnprocessableError, PayloadTooLargeError */
  async search(scope: Scope, request: CronSearch, until: AbortSignal): Promise<Page<Partial<Cron>>> {
    const { limit = 10, offset = 0, select } = request;
    const search = { ...request, enabled: isEnabled(request), limit, offset };
    const page = await this.#options.store.search(scope, search, until);
    return { ...page, rows: page.rows.map((cron) => selectCronFields(toWireCron(cron), select)) };
  }

  async count(scope: Scope, request: CronCountRequest): Promise<number> {
    return this.#options.store.count(scope, { ...request, enabled: isEnabled(request) });
  }

  /** Checks that the caller may run the cron's assistant on its thread. @throws NotFoundError, ForbiddenError */
  async #requireTakeover(origin: CronOrigin, cronId: string, { metadata }: CronPatch): Promise<void> {
    const cron = requireCron(cronId, await this.#options.store.find(origin.cronScope, cronId));
    const onItsThread = { ...origin, threadId: cron.threadId ?? undefined };
    await this.#requireRunnable(onItsThread, cron.assistantId, { ...cron.metadata, ...metadata });
  }

  /** Checks that runs of a cron would be its creator's to make and to see. @throws NotFoundError, ForbiddenError */
  async #requireRunnable(
    { threadId, scope, assistantScope }: CronOrigin,
    idOrGraph: string,
    metadata: Record<string, unknown>,
  ): Promise<RunAssistant> {
    const assistant = await this.#findAssistant(assistantScope, idOrGraph);
    if (threadId !== undefined) await this.#requireThread(scope, threadId);
    else if (!newThreadOf(metadata, assistant, scope).isVisible) throw outOfScope();
    return assistant;
  }

  /** Finds the assistant. An unknown graph is as much a NotFoundError here as an unknown assistant. */
  async #findAssistant(scope: Scope, idOrGraph: string): Promise<RunAssistant> {
    try {
      return await this.#options.assistants.find(scope, idOrGraph);
    } catch (error) {
      if (!(error instanceof NotFoundError || error instanceof UnprocessableError)) throw error;
      throw new NotFoundError(`Assistant '${idOrGraph}' not found`, { cause: error });
    }
  }

  async #requireThread(scope: Scope, threadId: string): Promise<void> {
    if (await this.#options.threads.findWithoutState(scope, threadId)) return;
    throw new NotFoundError(`Thread with ID '${threadId}' not found. Please verify that the thread exists.`);
  }
}

/** Returns null for a caller about whom nobody decides: nothing bounds its runs. */
function creatorOf({ user, scope, assistantScope }: CronOrigin): CronCreator | null {
  if (!user && !isRestricted(scope) && !isRestricted(assistantScope)) return null;
  return { user, threadScope: scope, assistantScope };
}

/** Checks that the schedule can fire and the payload makes a valid run. @throws UnprocessableError, BadRequestError */
function requireValidSettings({ schedule, timezone, payload }: CronSettings): void {
  requireOneConfiguration(payload as CronPayload);
  try {
    if (parseSchedule(schedule, timezone).nextAfter(new Date())) return;
  } catch (error) {
    if (error instanceof InvalidScheduleError) throw new UnprocessableError(error.message, { cause: error });
    throw error;
  }
  throw new UnprocessableError(`Invalid cron schedule: '${schedule}'. Reason: the day it names never comes`);
}

/** Refuses to delete the thread of a cron that has one, which outlives the cron's runs. @throws UnprocessableError */
function requireThreadKept({ on_run_completed }: Pick<CronPatch, 'on_run_completed'>): void {
  if (on_run_completed === undefined || on_run_completed === 'keep') return;
  throw new UnprocessableError('on_run_completed "delete" is for crons without a thread of their own');
}

/** @throws UnprocessableError when the two names of the switch have different values */
function isEnabled({ enabled, is_enabled }: Pick<CronPatch, 'enabled' | 'is_enabled'>): boolean | undefined {
  if (enabled !== undefined && is_enabled !== undefined && enabled !== is_enabled) {
    throw new UnprocessableError('enabled and is_enabled are one setting and must not differ');
  }
  return enabled ?? is_enabled;
}

const LAST_YEAR = 9999;

/** Parses a time; without an offset it is UTC. @throws UnprocessableError */
function timeOf(text: string | null | undefined): Date | null {
  if (text === null || text === undefined) return null;
  const time = new Date(/(?:z|[+-]\d\d(?::?\d\d)?)$/i.test(text) ? text : `${text}Z`);
  // An offset leads out of the years that have four digits.
  if (Number.isNaN(time.getTime()) || time.getUTCFullYear() > LAST_YEAR)
    throw new UnprocessableError('end_time is not a time that exists');
  return time;
}

function requireCron(cronId: string, cron: CronRecord | undefined): CronRecord {
  if (!cron) throw cronNotFound(cronId);
  return cron;
}

function cronNotFound(cronId: string): NotFoundError {
  return new NotFoundError(`Cron with ID ${cronId} not found`);
}
