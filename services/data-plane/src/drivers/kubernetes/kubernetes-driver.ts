import type { V1Deployment } from '@kubernetes/client-node';
import { withDeadline } from '@runyard/deadline';
import {
  type Counts,
  findPodOverrideFault,
  objectName,
  type PodRules,
  RevisionStartError,
  scaleBounds,
} from '@runyard/deployments';
import type { OpenRevisionLog } from '@runyard/revision-logs';
import { withLastLines } from '@runyard/revision-logs';
import type { Logger } from '@runyard/service-kit';
import type { PlatformSettings } from '../deployment-variables.ts';
import type { Driver, RevisionSpec, RevisionStartOptions, RunningRevision } from '../driver.ts';
import type { FindPullCredential } from '../pull-credential.ts';
import type { RunningRevisions } from '../running-revisions.ts';
import { type ClusterApi, ClusterRefusedError } from './cluster-api.ts';
import { KubernetesRevision, type RevisionDependencies } from './kubernetes-revision.ts';
import { PodUsage } from './pod-usage.ts';
import { PodWatch } from './pod-watch.ts';
import { Removal } from './removal.ts';
import { RevisionObjects } from './revision-objects.ts';

export interface KubernetesDriverOptions {
  api: ClusterApi;
  platform: PlatformSettings;
  openLog: OpenRevisionLog;
  /** Returns the time of the newest line of a revision's log; undefined without one. */
  lastLineAt(owner: { deploymentId: string; revisionId: string }): Promise<Date | undefined>;
  running: RunningRevisions;
  /** Returns the deployment's last process counts. Without it, each revision begins with the minimum. */
  countsBefore?(deploymentId: string): Promise<Counts>;
  logger: Logger;
  credentialFor: FindPullCredential;
  /** The fields of pods that deployments may choose. */
  rules: PodRules;
  /** Decides who scales pods. `auto`: the cluster if it serves custom metrics, otherwise the platform. */
  autoscaler: 'auto' | 'cluster' | 'platform';
  coolDownSeconds: number;
}

/** Grace of a deleted deployment's pods. It is short, as their work is deleted anyway. */
const DELETE_GRACE_MS = 1_000;
const DISCOVERY_TIMEOUT_MS = 10_000;
const RENEWAL_TIMEOUT_MS = 10_000;

/**
 * Runs a revision that is an image as pods of a Kubernetes cluster. The objects outlive this process: a later process
 * finds them by their labels and continues from any step.
 */
export class KubernetesDriver implements Driver {
  readonly #options: KubernetesDriverOptions;
  readonly #dependencies: RevisionDependencies;
  /** Ids of revisions that are being started. */
  readonly #starting = new Set<string>();

  constructor(options: KubernetesDriverOptions) {
    const { api, running, logger } = options;
    this.#options = options;
    const watch = new PodWatch(api, logger);
    this.#dependencies = { api, watch, usage: new PodUsage(api), removal: new Removal(api), running, logger };
  }

  async start(
    spec: RevisionSpec,
    { signal: outer, timeoutMs, onUpstreams }: RevisionStartOptions,
  ): Promise<RunningRevision> {
    if (spec.artifact.kind !== 'image') throw new Error('a project is not run as pods');
    const { artifact: image, deploymentId, revisionId } = spec;
    const { openLog, lastLineAt, platform, credentialFor, coolDownSeconds, autoscaler, countsBefore } = this.#options;
    const secrets = [
      ...Object.values(spec.secrets),
      new URL(spec.databaseUri).password,
      new URL(spec.redisUri).password,
    ];
    const logsSince = await lastLineAt({ deploymentId, revisionId });
    const log = openLog({ deploymentId, revisionId, kind: 'deploy' }, { secrets });
    let revision: KubernetesRevision | undefined;
    let wasReady = false;
    this.#starting.add(revisionId);
    try {
      return await withDeadline(outer, timeoutMs, async (signal) => {
        const { api, removal } = this.#dependencies;
        await removal.waitForRemoval(revisionId);
        const name = objectName(revisionId, 'agent-api');
        const found = await api.find<V1Deployment>('Deployment', name, signal);
        // An existing revision was allowed when it was created, and stays supervised.
        if (!found) checkRunnable(spec, this.#options.rules);
        wasReady = (found?.status?.readyReplicas ?? 0) > 0;
        const credential = await credentialFor(spec, image.imageUri, signal);
        const objects = new RevisionObjects(spec, { platform, image, credential, coolDownSeconds });
        const isScaledByCluster = isScaled(spec) && (await this.#clusterScales(autoscaler));
        const options = {
          objects,
          log,
          lastCounts: (await countsBefore?.(deploymentId)) ?? {},
          logsSince: found ? logsSince : undefined,
          wasReady,
          isScaledByCluster,
          onUpstreams,
        };
        revision = new KubernetesRevision(spec, this.#dependencies, options);
        await revision.start(signal);
        if (credential) {
          const renew = async (ended: AbortSignal) => {
            const renewed = await credentialFor(spec, image.imageUri, ended);
            if (renewed?.isEarlier) throw new Error('the platform cannot be asked');
            if (renewed)
              await withDeadline(ended, RENEWAL_TIMEOUT_MS, (by) => api.apply(objects.pullSecret(renewed), by));
          };
          revision.renewCredential({ renew, isDue: credential.isEarlier ?? false });
        }
        this.#drainLeftovers(deploymentId);
        return revision;
      });
    } catch (error) {
      const isOurs = outer.aborted || !(error instanceof RevisionStartError);
      await this.#giveUp(revision, log, wasReady && isOurs);
      throw outer.aborted ? error : toStartFailure(error, log);
    } finally {
      this.#starting.delete(revisionId);
    }
  }

  /** Removes what is left of a deleted deployment. */
  async removeLeftovers(deploymentId: string): Promise<void> {
    await this.#dependencies.removal.removeDeployment(deploymentId, DELETE_GRACE_MS);
  }

  close(): void {
    this.#dependencies.watch.stop();
  }

  /** Leaves a revision running that served before this process came, unless the revision itself is at fault. */
  async #giveUp(
    revision: KubernetesRevision | undefined,
    log: { close(): Promise<void> },
    isKept: boolean,
  ): Promise<void> {
    if (!revision) return log.close();
    try {
      await (isKept ? revision.release() : revision.stop(0));
    } catch (error) {
      this.#options.logger.warn('cleanup of a failed start did not succeed, will retry', { error });
    }
  }

  /** Drains revisions that an earlier process started or replaced and did not remove. */
  #drainLeftovers(deploymentId: string): void {
    const { removal, running, logger } = this.#dependencies;
    const runningOnes = () => (running.byDeployment().get(deploymentId) ?? []).map(({ revisionId }) => revisionId);
    // The revisions of now count too: one that is released meanwhile belongs to another process.
    const known = runningOnes();
    const drain = async () => {
      const present = await removal.revisionsOf(deploymentId, AbortSignal.timeout(DISCOVERY_TIMEOUT_MS));
      const kept = new Set([...known, ...runningOnes(), ...this.#starting]);
      const left = present.filter((id) => !kept.has(id));
      await Promise.all(left.map((id) => removal.drain(id)));
    };
    drain().catch((error: unknown) =>
      logger.warn('replaced revision not removed, will retry', { deploymentId, error }),
    );
  }

  async #clusterScales(autoscaler: KubernetesDriverOptions['autoscaler']): Promise<boolean> {
    if (autoscaler !== 'auto') return autoscaler === 'cluster';
    const call = { method: 'GET', path: '/apis/external.metrics.k8s.io/v1beta1' } as const;
    return this.#dependencies.api.callOnce(call, AbortSignal.timeout(DISCOVERY_TIMEOUT_MS)).then(
      () => true,
      () => false,
    );
  }
}

/**
 * Matches fields that would give a deployment access to what belongs to others in the namespace, or that ask for
 * servers of its own, which nobody creates here.
 */
const UNSUPPORTED = /^(volumes|volume_mounts|init_containers|sidecars|service_account_name|redis_.*|db_.*)$/;

/** @throws RevisionStartError when the specification asks for something that pods do not get here */
function checkRunnable({ resources }: RevisionSpec, rules: PodRules): void {
  const foreign = Object.entries(resources).find(([name, value]) => value != null && UNSUPPORTED.test(name));
  if (foreign)
    throw new RevisionStartError(`pods of this platform have no 'resource_spec.${foreign[0]}': leave it out`);
  const fault = findPodOverrideFault(resources, rules);
  if (fault) throw new RevisionStartError(`'resource_spec.${fault.field}' is refused: ${fault.message}`);
}

function isScaled({ resources }: RevisionSpec): boolean {
  return (['agent-api', 'run-worker'] as const).some((role) => {
    const { min, max } = scaleBounds(resources, role);
    return min !== max;
  });
}

/** Returns the error for the revision's owner, with the last lines of the log. */
function toStartFailure(error: unknown, log: Parameters<typeof withLastLines>[1]): RevisionStartError {
  if (error instanceof RevisionStartError)
    return new RevisionStartError(withLastLines(error.message, log), { cause: error });
  if (error instanceof ClusterRefusedError) {
    return new RevisionStartError(`the cluster refuses what it takes to run it: ${error.message}`, { cause: error });
  }
  return new RevisionStartError('the cluster did not answer in time', { cause: error });
}
