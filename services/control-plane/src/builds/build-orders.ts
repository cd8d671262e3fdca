import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { BuildEnd, BuildOrder, BuildReport, BuildReportAnswer } from '@runyard/contracts';
import { isUnavailable } from '@runyard/database';
import { BuildError, failRevision, RevisionEndedError, reachStatus } from '@runyard/deployments';
import type { ObjectStorage } from '@runyard/object-storage';
import { type CopiedLogs, LogFileFullError, toStoredEntry } from '@runyard/revision-logs';
import { ConflictError, type Logger, NotFoundError, UnavailableError } from '@runyard/service-kit';
import type { Revision } from '../generated/client.ts';
import { uploadedArchiveOf } from '../sources/uploads/uploaded-source.ts';
import type { BuildArchives } from './build-archives.ts';
import type { BuildQueue } from './build-queue.ts';
import { type BuildProduct, type BuildStore, isWaitingForBuild, ORDERS_MAX } from './build-store.ts';
import type { Builds } from './builds.ts';

export interface BuildOrdersOptions {
  store: BuildStore;
  builds: Builds;
  queue: Pick<BuildQueue, 'addNext'>;
  archives: Pick<BuildArchives, 'receive'>;
  objects: Pick<ObjectStorage, 'open'>;
  copies: Pick<CopiedLogs, 'append'>;
  recordCommit(revisionId: string, commit: string): Promise<void>;
  /** Is called when an order has ended: the deployment may have more to build. */
  onEnded(deploymentId: string): void;
  logger: Logger;
}

/** One order of a build, as its signed URL names it. */
export interface OrderName {
  revisionId: string;
  epoch: number;
}

const GIVEN_UP =
  `The build was begun ${ORDERS_MAX} times, and none of its builders came to an end: ` +
  'they were killed, ran out of memory, or did not reach what they needed. The last lines of its log may say more.';

/**
 * Gives builders their orders, and takes what they report. Each order raises the epoch of its revision, so that nothing
 * counts that an earlier builder sends, whether it was killed, cut off or only slow.
 */
export class BuildOrders {
  readonly #options: BuildOrdersOptions;
  readonly #logger: Logger;

  constructor(options: BuildOrdersOptions) {
    this.#options = options;
    this.#logger = options.logger;
  }

  /**
   * Begins another attempt, and puts the next build of the organization into the queue. A URL gives one order: once it
   * has begun, the URL is worth nothing to whoever else may have read it.
   *
   * @param name.epoch the newest order when the URL was made
   * @returns null when there is nothing to build (any more), it is not the organization's turn, or the URL is used up
   * @throws ConflictError for a URL whose builder was heard of just now; UnavailableError
   */
  async order({ revisionId, epoch }: OrderName, signal: AbortSignal): Promise<BuildOrder | null> {
    const { store, queue } = this.#options;
    const revision = await store.findToBuild(revisionId);
    if (revision && revision.buildEpoch !== epoch) return this.#succeed(revision, epoch);
    // A build that cannot be ordered now keeps no other one of its organization from a builder.
    const organizationId = await store.yieldTurn(revisionId, { isToBuild: revision !== null });
    if (organizationId === undefined) return null;
    try {
      return revision && (await this.#order(revision, signal));
    } finally {
      await queue.addNext(organizationId);
    }
  }

  /**
   * Answers a URL that is used up: BullMQ gives the job of a builder that died to the next one, URL and all. That one gets
   * no order for it, but another job.
   */
  async #succeed({ id, deploymentId, buildEpoch }: Revision, epoch: number): Promise<null> {
    const { store, queue } = this.#options;
    if (await store.endSilentOrder(id)) {
      const deployment = await store.find(deploymentId);
      if (deployment) await queue.addNext(deployment.organizationId);
    } else if (epoch === buildEpoch - 1) throw taken();
    return null;
  }

  async #order(revision: Revision, signal: AbortSignal): Promise<BuildOrder | null> {
    const { store, builds } = this.#options;
    const { id: revisionId } = revision;
    const deployment = await store.find(revision.deploymentId);
    if (!deployment) return null;
    try {
      // An order that cannot be given now counts as no attempt.
      const orderOf = await builds.describe(deployment, revision, signal);
      const begun = await store.beginOrder(revision);
      if (!begun.isBegun) {
        if (begun.why === 'given up') throw new BuildError(GIVEN_UP);
        return null;
      }
      if (isWaitingForBuild(revision)) await reachStatus(store, revision, 'BUILDING');
      this.#logger.info('build ordered', { revisionId, epoch: begun.epoch });
      return orderOf(begun.epoch);
    } catch (error) {
      if (error instanceof RevisionEndedError) return null;
      if (isPassing(error)) throw error;
      await this.#fail(revision, error);
      return null;
    }
  }

  async report({ revisionId, epoch }: OrderName, { commit, log }: BuildReport): Promise<BuildReportAnswer> {
    const { store, copies, recordCommit } = this.#options;
    const revision = await store.findOrdered(revisionId, epoch);
    if (!revision || !(await store.heard(revisionId, epoch))) return { goes_on: false, last_id: null };
    if (commit !== undefined) await recordCommit(revisionId, commit);
    if (!log) return { goes_on: true, last_id: null };
    const owner = { deploymentId: revision.deploymentId, revisionId, kind: 'build' as const };
    const part = { firstId: log.first_id, after: log.after, entries: log.entries.map(toStoredEntry) };
    const lastId = await copies.append(owner, part).catch((error: unknown) => {
      // The builder begins another file.
      if (error instanceof LogFileFullError) return null;
      throw error;
    });
    return { goes_on: true, last_id: lastId };
  }

  /** @returns false when the order is not the newest, or nobody needs the build any more */
  async end({ revisionId, epoch }: OrderName, end: BuildEnd, signal: AbortSignal): Promise<boolean> {
    const { store, onEnded } = this.#options;
    const revision = await store.findOrdered(revisionId, epoch);
    if (!revision) return false;
    try {
      const isEnded = await this.#end(revision, end, signal);
      this.#logger.info('build ended', { revisionId, epoch, end: end.kind });
      return isEnded;
    } finally {
      onEnded(revision.deploymentId);
    }
  }

  async #end(revision: Revision, end: BuildEnd, signal: AbortSignal): Promise<boolean> {
    const { store } = this.#options;
    const { id, buildEpoch: epoch } = revision;
    if (end.kind === 'stopped' || end.kind === 'unavailable') {
      await store.endOrder(id, epoch, { isCounted: end.kind === 'unavailable' });
      return true;
    }
    try {
      if (end.kind === 'failed') throw new BuildError(end.message);
      const product = await this.#productOf(revision, end, signal);
      if (product) return await store.finishBuild(revision, product, epoch);
      // The result is gone again: it is made once more.
      await store.endOrder(id, epoch, { isCounted: true });
      return true;
    } catch (error) {
      if (isPassing(error)) throw error;
      await this.#fail(revision, error);
      return true;
    }
  }

  /** Returns null when what the builder has put is not there any more. */
  async #productOf(
    revision: Revision,
    end: Extract<BuildEnd, { kind: 'archive' | 'layer' }>,
    signal: AbortSignal,
  ): Promise<BuildProduct | null> {
    const { builds } = this.#options;
    if (end.kind === 'archive') return builds.findArchive(revision, signal);
    const { kind: _, ...layer } = end;
    return builds.makeImage(revision, layer, signal);
  }

  /** @throws ConflictError for an order that is not the newest; NotFoundError */
  async openSource({ revisionId, epoch }: OrderName, signal: AbortSignal): Promise<Readable> {
    const revision = await this.#requireOrdered({ revisionId, epoch });
    const archive = await this.#options.objects.open(uploadedArchiveOf(revision), signal);
    if (archive) return archive;
    throw new NotFoundError('The uploaded archive is not there any more: upload it again.', {
      code: 'build_source_missing',
    });
  }

  /** @throws ConflictError for an order that is not the newest, and the errors of {@link BuildArchives.receive} */
  async receiveArchive(name: OrderName, req: IncomingMessage): Promise<void> {
    const { archives, builds, store } = this.#options;
    const revision = await this.#requireOrdered(name);
    const isWanted = async () => (await store.findOrdered(name.revisionId, name.epoch)) !== null;
    if (!(await archives.receive(await builds.archiveOf(revision), req, isWanted))) throw notOrdered();
  }

  async #requireOrdered({ revisionId, epoch }: OrderName): Promise<Revision> {
    const revision = await this.#options.store.findOrdered(revisionId, epoch);
    if (!revision) throw notOrdered();
    return revision;
  }

  async #fail(revision: Revision, error: unknown): Promise<void> {
    const { store, onEnded } = this.#options;
    if (isWaitingForBuild(revision)) await store.moveRevision(revision, 'BUILDING');
    await failRevision(store, revision, error, this.#logger);
    await store.giveUp(revision);
    onEnded(revision.deploymentId);
  }
}

/** Returns whether the same request may succeed later. */
function isPassing(error: unknown): boolean {
  return !(error instanceof BuildError) && (isUnavailable(error) || error instanceof UnavailableError);
}

const taken = () => new ConflictError('Another builder has this build.', { code: 'build_taken' });

const notOrdered = () => new ConflictError('This build is not asked for any more.', { code: 'build_not_ordered' });
