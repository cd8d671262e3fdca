import type {
  V1Deployment,
  V1PodDisruptionBudget,
  V1Secret,
  V1Service,
  V2HorizontalPodAutoscaler,
  V2MetricSpec,
} from '@kubernetes/client-node';
import type { ImageArtifact } from '@runyard/deployments';
import { capacityOf, objectName, type ReplicaRole, scaleBounds } from '@runyard/deployments';
import { graceSecondsOf, type PlatformSettings, replicaVariables } from '../deployment-variables.ts';
import type { RevisionSpec } from '../driver.ts';
import type { PullCredential } from '../pull-credential.ts';
import { labelsOf } from './labels.ts';
import { PORT, podTemplate } from './pod-template.ts';
import { SECRETS_KEY } from './secret-handover.ts';

export interface ObjectOptions {
  platform: PlatformSettings;
  image: ImageArtifact;
  credential: PullCredential | undefined;
  /** Seconds of low load before the cluster removes pods. */
  coolDownSeconds: number;
}

/** The metric of agent-api's `/metrics`, after its prefix, with the pending runs of the whole deployment. */
const PENDING_RUNS_METRIC = 'num_pending_runs';
const METRIC_PREFIX = 'lg_api_';
const PENDING_RUNS_PER_WORKER = 10;
const CPU_TARGET = 0.75;
const MEMORY_TARGET = 0.75;
/** The longest window that the API accepts. */
const COOL_DOWN_SECONDS_MAX = 3600;

/** Describes all Kubernetes objects of one revision. The result is deterministic. */
export class RevisionObjects {
  readonly #spec: RevisionSpec;
  readonly #options: ObjectOptions;

  constructor(spec: RevisionSpec, options: ObjectOptions) {
    this.#spec = spec;
    this.#options = options;
  }

  secrets(): V1Secret[] {
    const { credential } = this.#options;
    return [
      this.#secret('secrets', { [SECRETS_KEY]: `${JSON.stringify(this.#variables('agent-api').secrets)}\n` }),
      this.#secret('agent-api', this.#environment('agent-api')),
      this.#secret('run-worker', this.#environment('run-worker')),
      ...(credential ? [this.pullSecret(credential)] : []),
    ];
  }

  pullSecret({ host, username, password }: PullCredential): V1Secret {
    const config = { auths: { [host]: { username, password, auth: base64(`${username}:${password}`) } } };
    const type = 'kubernetes.io/dockerconfigjson';
    return this.#secret('pull', { '.dockerconfigjson': JSON.stringify(config) }, type);
  }

  service(): V1Service {
    return {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: this.#metadata('agent-api'),
      spec: {
        selector: labelsOf(this.#spec, 'agent-api'),
        ports: [{ name: 'http', port: PORT, targetPort: 'http', protocol: 'TCP' }],
      },
    };
  }

  /** @param replicas undefined when the cluster decides the number */
  deployment(role: ReplicaRole, replicas: number | undefined): V1Deployment {
    const { image, platform, credential } = this.#options;
    const { image_pull_secrets } = this.#spec.resources;
    const secretsContent = JSON.stringify([this.#variables(role).secrets, this.#environment(role)]);
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: this.#metadata(role),
      spec: {
        ...(replicas !== undefined && { replicas }),
        // The template only changes with the platform's settings. Then too a new pod is ready before an old one ends.
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        revisionHistoryLimit: 0,
        selector: { matchLabels: labelsOf(this.#spec, role) },
        template: podTemplate(this.#spec, {
          role,
          image,
          graceSeconds: graceSecondsOf(this.#own, platform.graceSeconds),
          secretsContent,
          pullSecrets: [
            ...(credential ? [objectName(this.#spec.revisionId, 'pull')] : []),
            ...(image_pull_secrets ?? []).map(({ name }) => name),
          ],
        }),
      },
    };
  }

  /**
   * Describes budgets for roles with at least two pods. A budget for a single pod would block the draining of nodes.
   */
  disruptionBudgets(): V1PodDisruptionBudget[] {
    const kept = (['agent-api', 'run-worker'] as const).filter(
      (role) => scaleBounds(this.#spec.resources, role).min > 1,
    );
    return kept.map((role) => ({
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: this.#metadata(role),
      spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(this.#spec, role) } },
    }));
  }

  /** Describes autoscalers for the roles that can scale: by CPU and memory, and for workers by pending runs. */
  autoscalers(): V2HorizontalPodAutoscaler[] {
    return (['agent-api', 'run-worker'] as const).flatMap((role) => {
      const { min, max } = scaleBounds(this.#spec.resources, role);
      if (min === max) return [];
      const window = Math.min(this.#options.coolDownSeconds, COOL_DOWN_SECONDS_MAX);
      return {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: this.#metadata(role),
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: objectName(this.#spec.revisionId, role) },
          minReplicas: min,
          maxReplicas: max,
          metrics: this.#targets(role),
          behavior: { scaleDown: { stabilizationWindowSeconds: window } },
        },
      };
    });
  }

  #targets(role: ReplicaRole): V2MetricSpec[] {
    const { cpuCores, memoryBytes } = capacityOf(this.#spec.resources, role);
    const averages = [
      ['cpu', `${Math.round(cpuCores * CPU_TARGET * 1000)}m`],
      ['memory', String(Math.round(memoryBytes * MEMORY_TARGET))],
    ] as const;
    const targets: V2MetricSpec[] = averages.map(([name, averageValue]) => ({
      type: 'ContainerResource',
      containerResource: { container: role, name, target: { type: 'AverageValue', averageValue } },
    }));
    if (role === 'agent-api') return targets;
    const matchLabels = { project_id: this.#spec.deploymentId, revision_id: this.#spec.revisionId };
    const name = (this.#own.METRIC_PREFIX ?? METRIC_PREFIX) + PENDING_RUNS_METRIC;
    const metric = { name, selector: { matchLabels } };
    const target = { type: 'AverageValue', averageValue: String(PENDING_RUNS_PER_WORKER) };
    return [...targets, { type: 'External', external: { metric, target } }];
  }

  /** Variables of the deployment, and of its project where they are known. */
  get #own(): Record<string, string> {
    return { ...this.#options.image.settings, ...this.#spec.secrets };
  }

  #variables(role: ReplicaRole) {
    return replicaVariables(this.#spec, this.#own, this.#options.platform, role);
  }

  #environment(role: ReplicaRole): Record<string, string> {
    // The secrets come over standard input. `RUNYARD_PARENT_FD` is not set, because pods outlive this process.
    return { ...this.#variables(role).env, HOST: '0.0.0.0', PORT: String(PORT), RUNYARD_SECRETS_FD: '0' };
  }

  #secret(part: ReplicaRole | 'secrets' | 'pull', content: Record<string, string>, type = 'Opaque'): V1Secret {
    const data = Object.fromEntries(Object.entries(content).map(([name, value]) => [name, base64(value)]));
    return { apiVersion: 'v1', kind: 'Secret', metadata: this.#metadata(part), type, data };
  }

  #metadata(part: ReplicaRole | 'secrets' | 'pull') {
    const role = part === 'secrets' || part === 'pull' ? undefined : part;
    return { name: objectName(this.#spec.revisionId, part), labels: labelsOf(this.#spec, role) };
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
