import { EventEmitter, once } from 'node:events';
import type { V1Deployment, V1Pod } from '@kubernetes/client-node';
import { type Counts, objectName, type ReplicaRole, scaleBounds } from '@runyard/deployments';
import type { RevisionLog } from '@runyard/revision-logs';
import type { Logger } from '@runyard/service-kit';
import type { RevisionSpec, RunningReplica, RunningRevision } from '../driver.ts';
import type { RunningRevisions } from '../running-revisions.ts';
import type { ClusterApi } from './cluster-api.ts';
import { type CredentialRenewal, renewUntilAborted } from './credential-renewal.ts';
import { PodLogs } from './pod-logs.ts';
import { hasCustomAuth, isReady, roleOf, serviceStatus } from './pod-state.ts';
import { PORT } from './pod-template.ts';
import type { PodUsage } from './pod-usage.ts';
import type { PodWatch } from './pod-watch.ts';
import type { Removal } from './removal.ts';
import type { RevisionObjects } from './revision-objects.ts';
import { RevisionPods } from './revision-pods.ts';
import { RevisionScale } from './revision-scale.ts';
import { waitForHealthyPods } from './wait-for-healthy-pods.ts';

export interface RevisionDependencies {
  api: ClusterApi;
  watch: PodWatch;
  usage: PodUsage;
  removal: Removal;
  running: RunningRevisions;
  logger: Logger;
}

export interface RevisionOptions {
  objects: RevisionObjects;
  log: RevisionLog;
  /** The deployment's last process counts. */
  lastCounts: Counts;
  /** Another process has stored the lines that pods printed before this time. */
  logsSince: Date | undefined;
  /**
   * True when the revision was ready before this process came: then too few pods are no reason to end those that serve.
   */
  wasReady: boolean;
  /** True when the cluster decides the number of pods, within the bounds. */
  isScaledByCluster: boolean;
  onUpstreams(urls: string[]): void;
}

const ROLES = ['agent-api', 'run-worker'] as const;
/** Milliseconds that the last lines of an ended container may take to arrive. */
const LAST_LINES_MS = 3_000;

/**
 * Supervises a revision that runs as pods of a cluster. The cluster keeps the pods running; this class follows their
 * addresses and may decide their number.
 */
export class KubernetesRevision implements RunningRevision {
  readonly #spec: RevisionSpec;
  readonly #dependencies: RevisionDependencies;
  readonly #options: RevisionOptions;
  readonly #logs: PodLogs;
  readonly #logger: Logger;
  readonly #changes = new EventEmitter().setMaxListeners(0);
  readonly #stopping = new AbortController();
  /** Aborts when this process no longer waits for the revision's end. */
  readonly #released = new AbortController();
  readonly #unwatch: () => void;
  readonly #pods: RevisionPods;
  readonly #scale: RevisionScale;
  #reportedUpstreams: string[] = [];
  #isDraining = false;
  #hasCustomAuth = false;

  constructor(spec: RevisionSpec, dependencies: RevisionDependencies, options: RevisionOptions) {
    this.#spec = spec;
    this.#dependencies = dependencies;
    this.#options = options;
    this.#logger = dependencies.logger.child({ deploymentId: spec.deploymentId, revisionId: spec.revisionId });
    this.#pods = new RevisionPods(dependencies.watch, spec);
    const { signal } = this.#stopping;
    this.#scale = new RevisionScale({ spec, api: dependencies.api, pods: this.#pods, signal, logger: this.#logger });
    this.#logs = new PodLogs(dependencies.api, options.logsSince, (pod, line) =>
      options.log.write(line, { source: this.#pods.nameOf(pod) }),
    );
    this.#unwatch = dependencies.watch.onChange(spec.revisionId, () => this.#observePods());
    dependencies.running.add(this);
  }

  readonly outlivesProcess = true;

  get isScaledByCluster(): boolean {
    return this.#options.isScaledByCluster;
  }

  get deploymentId(): string {
    return this.#spec.deploymentId;
  }

  get revisionId(): string {
    return this.#spec.revisionId;
  }

  get resources(): RevisionSpec['resources'] {
    return this.#spec.resources;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  get hasCustomAuth(): boolean {
    return this.#hasCustomAuth;
  }

  get upstreams(): string[] {
    return this.#remainingPods('agent-api').filter(isReady).map(urlOf);
  }

  replicas(): RunningReplica[] {
    return this.#pods.all().map((pod) => ({
      role: roleOf(pod)!,
      name: this.#pods.nameOf(pod),
      url: isReady(pod) ? urlOf(pod) : null,
      pid: null,
      restarts: serviceStatus(pod)?.restartCount ?? 0,
      measure: () => this.#dependencies.usage.usageOf(pod.metadata!.name!),
    }));
  }

  countOf(role: ReplicaRole): number {
    if (this.#options.isScaledByCluster) return this.#remainingPods(role).length;
    return this.#scale.countOf(role);
  }

  /**
   * Creates the revision's objects. On a new database agent-api comes first, as it creates the tables for the workers.
   * Existing objects stay as they are unless they differ.
   */
  async start(signal: AbortSignal): Promise<void> {
    const { objects, isScaledByCluster } = this.#options;
    const { api, removal } = this.#dependencies;
    signal.throwIfAborted();
    await Promise.race([this.#dependencies.watch.start(), once(signal, 'abort').then(() => signal.throwIfAborted())]);
    for (const secret of objects.secrets()) await api.apply(secret, signal);
    await api.apply(objects.service(), signal);
    for (const role of ROLES) {
      const found = await api.find<V1Deployment>('Deployment', objectName(this.revisionId, role), signal);
      this.#scale.setInitial(role, found?.spec?.replicas ?? this.#options.lastCounts[role]);
    }
    this.#observePods();
    for (const role of ROLES) {
      const { min, max } = scaleBounds(this.resources, role);
      const isLeftToCluster = isScaledByCluster && min !== max;
      await api.apply(objects.deployment(role, isLeftToCluster ? undefined : this.#scale.countOf(role)), signal);
      if (role === 'agent-api' && this.#spec.isFirst) await this.#waitUntilHealthy(role, signal);
    }
    for (const budget of objects.disruptionBudgets()) await api.apply(budget, signal);
    if (isScaledByCluster) for (const scaler of objects.autoscalers()) await api.apply(scaler, signal);
    else await removal.removeAutoscalers(this.revisionId, signal);
    await Promise.all(ROLES.map((role) => this.#waitUntilHealthy(role, signal)));
  }

  /** Renews the pull credential while this process supervises the revision. */
  renewCredential(renewal: CredentialRenewal): void {
    void renewUntilAborted(renewal, { signal: this.#stopping.signal, logger: this.#logger });
  }

  scale(role: ReplicaRole, count: number): void {
    if (this.#isDraining || this.#stopping.signal.aborted || this.#options.isScaledByCluster) return;
    this.#scale.change(role, count);
    this.#reportUpstreams();
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#stopping.abort(new Error('it drains'));
    await this.#scale.waitForChanges();
    const released = once(this.#released.signal, 'abort');
    try {
      await Promise.race([this.#dependencies.removal.drain(this.revisionId), released]);
    } finally {
      await this.#close();
    }
  }

  async stop(graceMs: number): Promise<void> {
    this.#stopping.abort(new Error('it stops'));
    await this.#scale.waitForChanges();
    try {
      await this.#dependencies.removal.remove(this.revisionId, graceMs);
    } finally {
      await this.#close();
    }
  }

  /** Stops supervising the revision; the cluster keeps it running. */
  async release(): Promise<void> {
    this.#stopping.abort(new Error('another process looks after it'));
    this.#released.abort();
    await this.#scale.waitForChanges();
    await this.#close();
  }

  #remainingPods(role: ReplicaRole): V1Pod[] {
    return this.#isDraining ? [] : this.#pods.findRemaining(role);
  }

  #observePods(): void {
    this.#pods.forgetDeleted();
    for (const role of ROLES) this.#pods.unmarkLeaving(role, this.countOf(role));
    for (const pod of this.#pods.all()) {
      this.#logs.observe(pod);
      this.#hasCustomAuth ||= hasCustomAuth(pod);
    }
    this.#reportUpstreams();
    this.#changes.emit('change');
  }

  #reportUpstreams(): void {
    const upstreams = this.upstreams;
    if (upstreams.join() === this.#reportedUpstreams.join()) return;
    this.#reportedUpstreams = upstreams;
    this.#options.onUpstreams(upstreams);
  }

  #waitUntilHealthy(role: ReplicaRole, signal: AbortSignal): Promise<void> {
    const { wasReady } = this.#options;
    const options = {
      api: this.#dependencies.api,
      revisionId: this.revisionId,
      role,
      pods: () => this.#remainingPods(role),
      changes: this.#changes,
      needed: wasReady ? 1 : scaleBounds(this.resources, role).min,
      isNew: !wasReady,
      logsSettled: () => this.#logs.waitUntilRead(LAST_LINES_MS),
    };
    return waitForHealthyPods(options, signal);
  }

  async #close(): Promise<void> {
    this.#unwatch();
    this.#logs.stop();
    this.#dependencies.running.delete(this);
    await this.#options.log.close();
  }
}

function urlOf(pod: V1Pod): string {
  const address = pod.status!.podIP!;
  return `http://${address.includes(':') ? `[${address}]` : address}:${PORT}`;
}
