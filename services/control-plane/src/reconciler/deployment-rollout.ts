import { isUnavailable } from '@runyard/database';
import { AppError, type Logger, sanitizeErrorText } from '@runyard/service-kit';
import type { DatabaseAccess, DeploymentDatabases } from '../data-plane/deployment-databases.ts';
import { removeRedisKeys } from '../data-plane/deployment-keys.ts';
import { type Driver, type RevisionSpec, type RunningRevision, StartFailure } from '../drivers/driver.ts';
import type { Deployment, Revision } from '../generated/client.ts';
import type { SecretSets } from '../secrets/secret-set.ts';
import { ensureDatabase, specOf } from './revision-specs.ts';
import type { RolloutStore } from './rollout-store.ts';
import type { StartSlots } from './start-slots.ts';

export interface RolloutParts {
  store: RolloutStore;
  driver: Driver;
  databases: DeploymentDatabases;
  dataRedisUri: string;
  secrets: SecretSets;
  /** Seals the passwords of deployment databases. */
  sealer: { seal(value: string, place: string): string; open(sealed: string, place: string): string };
  startSlots: StartSlots;
  deployTimeoutMs: number;
  /** Removes what the driver keeps of a deployment on disk. */
  removeFiles(deploymentId: string): Promise<void>;
  logger: Logger;
}

/** What `step` leaves: nothing to do, the deployment is gone, or it should be called again later. */
export type StepResult = 'settled' | 'gone' | 'retry';

/** An ended deployment's processes get this long: their work is deleted anyway. */
const DELETE_GRACE_MS = 1_000;

/**
 * Makes the desired state of one deployment real: its database, its active revision running, its newest open revision
 * rolled out. One step at a time; its owner calls `step` whenever something may have changed.
 *
 * A new revision is healthy before it becomes active, and a failed one never displaces the one that serves. The active one
 * is always first written into the deployment's own database, where its workers look, then here.
 */
export class DeploymentRollout {
  readonly #id: string;
  readonly #parts: RolloutParts;
  readonly #logger: Logger;
  #serving: RunningRevision | undefined;
  /** Replaced revisions that still end what they have. */
  readonly #draining = new Map<RunningRevision, Promise<void>>();
  #starting = new AbortController();
  #isStopped = false;
  /** Route changes in order: a later one must not be overtaken by an earlier one. */
  #routing: Promise<void> = Promise.resolve();

  constructor(id: string, parts: RolloutParts) {
    this.#id = id;
    this.#parts = parts;
    this.#logger = parts.logger.child({ deploymentId: id });
  }

  /** Ends the start that this step makes, if it makes one: something made it pointless. */
  interrupt(): void {
    this.#starting.abort(new Error('interrupted'));
  }

  async step(): Promise<StepResult> {
    this.#starting = new AbortController();
    const deployment = await this.#parts.store.find(this.#id);
    if (!deployment) {
      await this.stop(DELETE_GRACE_MS);
      return 'gone';
    }
    if (deployment.deleteRequestedAt) return this.#remove();

    const open = await this.#skipSuperseded(await this.#parts.store.openRevisions(this.#id));
    let result: StepResult = 'settled';
    if (deployment.activeRevisionId && this.#serving?.revisionId !== deployment.activeRevisionId) {
      result = await this.#bringUp(deployment, deployment.activeRevisionId);
    }
    const next = open[0];
    if (next && !(await this.#rollOut(deployment, next))) result = 'retry';
    return open.length > 1 ? 'retry' : result;
  }

  /**
   * Ends every process of the deployment, without changing what is desired of it. Its route is withdrawn first, unless
   * another process has taken over and announces its own.
   */
  async stop(graceMs: number, options: { keepRoute?: boolean } = {}): Promise<void> {
    this.#isStopped = true;
    this.interrupt();
    const serving = this.#serving;
    this.#serving = undefined;
    await this.#routing;
    if (serving && !options.keepRoute) {
      await this.#parts.store.setUpstreams(this.#id, []).catch((error: unknown) => {
        this.#logger.warn('the route of a deployment could not be withdrawn', { error });
      });
    }
    await Promise.all([serving, ...this.#draining.keys()].map((running) => running?.stop(graceMs)));
    await Promise.all(this.#draining.values());
  }

  /** Of revisions that wait, only the newest is rolled out. One that already began goes first. */
  async #skipSuperseded(open: Revision[]): Promise<Revision[]> {
    const newest = open.at(-1);
    const remaining: Revision[] = [];
    for (const revision of open) {
      const isWaiting = revision.status === 'CREATING' || revision.status === 'QUEUED';
      if (!isWaiting || revision === newest) {
        remaining.push(revision);
        continue;
      }
      await this.#parts.store.moveRevision(revision, 'QUEUED');
      await this.#parts.store.moveRevision(revision, 'SKIPPED', 'A newer revision took its place.');
    }
    return remaining;
  }

  /** Starts the revision that should be serving: after a restart of this service, or taken over from another process. */
  async #bringUp(deployment: Deployment, revisionId: string): Promise<StepResult> {
    const { store } = this.#parts;
    // What is written there belongs to processes that are gone.
    await store.setUpstreams(this.#id, []);
    const revision = await store.findRevision(revisionId);
    if (!revision) return 'settled';
    try {
      const access = await ensureDatabase(this.#parts, deployment);
      const spec = await specOf(this.#parts, revision, access, { isFirst: false });
      const running = await this.#start(spec);
      await this.#parts.databases.activateRevision(access, revisionId);
      if (!(await this.#serve(running))) return 'settled';
      this.#logger.info('an active revision is up again', { revisionId });
      return 'settled';
    } catch (error) {
      if (this.#isStopped) return 'settled';
      this.#logger.error('an active revision could not be started and is tried again', { revisionId, error });
      return 'retry';
    }
  }

  /** False when it should be tried again: what failed was not the revision's fault. */
  async #rollOut(deployment: Deployment, revision: Revision): Promise<boolean> {
    const { store } = this.#parts;
    let access: DatabaseAccess;
    try {
      access = await ensureDatabase(this.#parts, deployment);
    } catch (error) {
      const reason = sanitizeErrorText((error as Error).message);
      if (isUnavailable(error)) {
        this.#logger.error('the database of a deployment could not be made and is tried again', { error });
        return false;
      }
      this.#logger.error('the database of a deployment could not be made', { error });
      await store.moveRevision(revision, 'CREATE_FAILED', `Its database could not be made: ${reason}`);
      return true;
    }
    for (const status of ['QUEUED', 'AWAITING_DEPLOY', 'DEPLOYING'] as const)
      await store.moveRevision(revision, status);
    // Interrupted or superseded before it began.
    if ((await store.findRevision(revision.id))?.status !== 'DEPLOYING') return true;

    let running: RunningRevision;
    const interrupted = this.#starting.signal;
    try {
      const spec = await specOf(this.#parts, revision, access, { isFirst: deployment.activeRevisionId === null });
      running = await this.#start(spec);
    } catch (error) {
      // It stays as it is: whoever works on the deployment next goes on with it, or removes it.
      if (interrupted.aborted || this.#isStopped) return true;
      await this.#fail(revision, error);
      return true;
    }
    try {
      await this.#parts.databases.activateRevision(access, revision.id);
      const { upstreams, hasCustomAuth } = running;
      if (!(await store.activate(revision, { upstreams, hasCustomAuth }))) {
        if (deployment.activeRevisionId) {
          await this.#parts.databases.activateRevision(access, deployment.activeRevisionId);
        }
        await running.stop(DELETE_GRACE_MS);
        return true;
      }
    } catch (error) {
      await running.stop(DELETE_GRACE_MS);
      this.#logger.error('a healthy revision could not be made active and is tried again', { error });
      return false;
    }
    const replaced = this.#serving;
    if (await this.#serve(running)) {
      this.#logger.info('a revision is deployed', { revisionId: revision.id });
      if (replaced) this.#drain(replaced);
    }
    return true;
  }

  /** False when everything was asked to stop meanwhile: then it is stopped too. */
  async #serve(running: RunningRevision): Promise<boolean> {
    if (this.#isStopped) {
      await running.stop(DELETE_GRACE_MS);
      return false;
    }
    this.#serving = running;
    this.#route(running);
    return true;
  }

  async #fail(revision: Revision, error: unknown): Promise<void> {
    const isItsFault = error instanceof StartFailure || error instanceof AppError;
    if (!isItsFault) this.#logger.error('a revision could not be started', { revisionId: revision.id, error });
    const reason = error instanceof Error ? error.message : String(error);
    await this.#parts.store.moveRevision(revision, 'DEPLOY_FAILED', sanitizeErrorText(reason));
    this.#logger.warn('a revision failed', { revisionId: revision.id, reason });
  }

  #start(spec: RevisionSpec): Promise<RunningRevision> {
    const { driver, startSlots, deployTimeoutMs } = this.#parts;
    const { signal } = this.#starting;
    const onUpstreams = () => {
      if (this.#serving?.revisionId === spec.revisionId) this.#route(this.#serving);
    };
    return startSlots.run(async () => {
      signal.throwIfAborted();
      if (this.#isStopped) throw new Error('stopped');
      return driver.start(spec, { signal, timeoutMs: deployTimeoutMs, onUpstreams });
    });
  }

  /** Writes down where the serving revision answers now. */
  #route(serving: RunningRevision): void {
    this.#routing = this.#routing.then(async () => {
      if (this.#serving !== serving) return;
      try {
        await this.#parts.store.setUpstreams(this.#id, serving.upstreams);
      } catch (error) {
        this.#logger.error('the route of a deployment could not be changed', { error });
      }
    });
  }

  #drain(replaced: RunningRevision): void {
    const drained = replaced
      .drain()
      .then(() => this.#logger.info('a replaced revision has ended', { revisionId: replaced.revisionId }))
      .catch((error: unknown) => this.#logger.error('a replaced revision did not end well', { error }))
      .finally(() => this.#draining.delete(replaced));
    this.#draining.set(replaced, drained);
  }

  async #remove(): Promise<StepResult> {
    const { store, databases, dataRedisUri, removeFiles } = this.#parts;
    await this.stop(DELETE_GRACE_MS);
    try {
      await databases.drop(this.#id);
      await removeRedisKeys(dataRedisUri, this.#id);
      await removeFiles(this.#id);
      await store.remove(this.#id);
    } catch (error) {
      this.#logger.error('a deleted deployment could not be removed and is tried again', { error });
      return 'retry';
    }
    this.#logger.info('a deployment is removed');
    return 'gone';
  }
}
