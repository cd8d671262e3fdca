import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as client from '@kubernetes/client-node';
import { RevisionStartError } from '@runyard/deployments';
import { makeLogOpener } from '@runyard/revision-logs';
import { silentLogger } from '@runyard/service-kit';
import { HANGS_AFTER_MS, waitFor } from '@runyard/test-kit';
import type { Rule } from '@runyard/test-kit/fake-cluster';
import { FakeCluster, grantedRules, NAMESPACE } from '@runyard/test-kit/fake-cluster';
import { AGENT } from '@runyard/test-kit/fake-engine';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RevisionSpec, RunningRevision } from '../src/drivers/driver.ts';
import { ClusterApi } from '../src/drivers/kubernetes/cluster-api.ts';
import { KubernetesDriver, type KubernetesDriverOptions } from '../src/drivers/kubernetes/kubernetes-driver.ts';
import { RunningRevisions } from '../src/drivers/running-revisions.ts';
import { sampleReplicas } from '../src/monitoring/replica-samples.ts';

const SECRET = 'a value nobody may see';
const DATABASE_URI = 'postgres://role:password@postgres.example.com/database';

let rules: Rule[];
let cluster: FakeCluster;
let folder: string;
const drivers: KubernetesDriver[] = [];
const started: RunningRevision[] = [];

beforeAll(async () => {
  rules = await grantedRules();
  [cluster, folder] = await Promise.all([
    FakeCluster.start(AGENT, rules),
    mkdtemp(join(tmpdir(), 'runyard-kubernetes-')),
  ]);
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((revision) => revision.stop(0)));
  for (const driver of drivers.splice(0)) driver.close();
});
afterAll(async () => {
  await cluster.close();
  await rm(folder, { recursive: true, force: true });
});

/** Makes a driver. Another driver is another control plane, which shares only the cluster. */
function driver(changes: Partial<KubernetesDriverOptions> = {}): KubernetesDriver {
  const made = new KubernetesDriver({
    api: new ClusterApi(client, cluster.kubeConfig(), NAMESPACE),
    platform: {
      host: '127.0.0.1',
      publicUrl: 'https://agents.example.com',
      jwksUrl: 'https://keys.example.com',
      graceSeconds: 5,
      logLevel: 'info',
      eventBus: { kind: 'redis', topicPrefix: '' },
    },
    openLog: makeLogOpener(folder, silentLogger),
    lastLineAt: async () => undefined,
    running: new RunningRevisions(),
    logger: silentLogger,
    credentialFor: async () => undefined,
    rules: { metadata: ['team'], pullSecrets: [] },
    autoscaler: 'auto',
    coolDownSeconds: 1800,
    ...changes,
  });
  drivers.push(made);
  return made;
}

function specOf(changes: Partial<RevisionSpec> = {}): RevisionSpec {
  return {
    deploymentId: randomUUID(),
    revisionId: randomUUID(),
    isFirst: true,
    publicUrls: [],
    artifact: { kind: 'image', imageUri: 'registry.example.com/agent@sha256:0123' },
    resources: {},
    databaseUri: DATABASE_URI,
    redisUri: 'redis://:redis-password@redis.example.com',
    redisKeyPrefix: 'runyard:test',
    ...changes,
    secrets: { NO_DATABASE: '1', ...changes.secrets },
  };
}

async function start(spec: RevisionSpec, by = driver(), timeoutMs = HANGS_AFTER_MS): Promise<RunningRevision> {
  const options = { signal: new AbortController().signal, timeoutMs, onUpstreams: () => undefined };
  const revision = await by.start(spec, options);
  started.push(revision);
  return revision;
}

const failing = (spec: RevisionSpec, by = driver(), timeoutMs = HANGS_AFTER_MS): Promise<string> =>
  start(spec, by, timeoutMs).then(
    () => 'it started',
    (error: unknown) => {
      expect(error).toBeInstanceOf(RevisionStartError);
      return (error as Error).message;
    },
  );
const image = (imageUri: string) => ({ artifact: { kind: 'image', imageUri } as const });
const of = (plural: string, { revisionId }: { revisionId: string }) =>
  cluster.objects(plural).filter(({ metadata }) => metadata.labels?.['io.runyard.revision'] === revisionId);
const part = (plural: string, revision: { revisionId: string }, role: string) =>
  of(plural, revision).find(({ metadata }) => metadata.name.endsWith(role));

describe('the objects of a revision', () => {
  it('have secrets only in Secrets, and need nothing that a restricted namespace forbids', async () => {
    const credential = { host: 'agents.example.com', username: 'oauth2accesstoken', password: 'a pull token' };
    const resources = { cpu: 0.5, memory_mb: 512, queue_memory_mb: 256, min_scale: 2, labels: { team: 'support' } };
    const secrets = { MODEL_KEY: SECRET, BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '40' };
    const spec = specOf({ resources, secrets, ...image('agents.example.com/registry/x/agent-with-auth:v1') });
    const revision = await start(spec, driver({ credentialFor: async () => credential }));
    expect(revision.hasCustomAuth).toBe(true);
    const visible = JSON.stringify(
      ['deployments', 'pods', 'services', 'poddisruptionbudgets'].map((kind) => of(kind, spec)),
    );
    for (const secret of [SECRET, 'redis-password', DATABASE_URI, credential.password])
      expect(visible).not.toContain(secret);
    expect(of('secrets', spec).map(({ type }) => type)).toContain('kubernetes.io/dockerconfigjson');

    const api = part('deployments', spec, 'agent-api')!.spec;
    expect(api.replicas).toBe(2);
    expect(api.template.metadata.labels).toMatchObject({ team: 'support', 'io.runyard.deployment': spec.deploymentId });
    expect(api.template.spec).toMatchObject({
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 52,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const container of [...api.template.spec.containers, ...api.template.spec.initContainers]) {
      expect(container.securityContext).toEqual({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
      expect(container.imagePullPolicy).toBe('Always');
    }
    expect(api.template.spec.containers[0].resources).toEqual({
      requests: { cpu: '500m', memory: '512Mi' },
      limits: { cpu: '1000m', memory: '1024Mi' },
    });
    expect(part('deployments', spec, 'run-worker')!.spec.template.spec.containers[0].resources).toEqual({
      requests: { cpu: '500m', memory: '256Mi' },
      limits: { cpu: '1000m', memory: '512Mi' },
    });
    expect(of('poddisruptionbudgets', spec).map(({ spec: { maxUnavailable } }) => maxUnavailable)).toEqual([1]);
    await revision.stop(0);
    for (const kind of ['deployments', 'pods', 'secrets', 'services', 'poddisruptionbudgets']) {
      expect(of(kind, spec), kind).toEqual([]);
    }
  });

  it('are scaled by the cluster where it has custom metrics: workers by pending runs', async () => {
    cluster.api.hasExternalMetrics = true;
    cluster.controllers.externalMetric = 25;
    try {
      const spec = specOf({ resources: { max_scale: 4 } });
      const revision = await start(spec);
      expect(revision.isScaledByCluster).toBe(true);
      await waitFor(() => revision.replicas().filter(({ role, url }) => role === 'run-worker' && url).length === 3, {
        what: 'three workers for 25 runs',
      });
      const { metrics, minReplicas, maxReplicas } = part('horizontalpodautoscalers', spec, 'run-worker')!.spec;
      expect([minReplicas, maxReplicas]).toEqual([1, 4]);
      expect(metrics.at(-1).external).toEqual({
        metric: {
          name: 'lg_api_num_pending_runs',
          selector: { matchLabels: { project_id: spec.deploymentId, revision_id: spec.revisionId } },
        },
        target: { type: 'AverageValue', averageValue: '10' },
      });
    } finally {
      cluster.api.hasExternalMetrics = false;
      cluster.controllers.externalMetric = undefined;
    }
  });

  it('are measured by the metrics API, where there is one', async () => {
    const revision = await start(specOf());
    const containers = [{ usage: { cpu: '250m', memory: '64Mi' } }, { usage: { cpu: '1000000n', memory: '1024Ki' } }];
    cluster.api.podMetrics = () => cluster.objects('pods').map(({ metadata }) => ({ metadata, containers }));
    const { replicas } = await sampleReplicas([revision]);
    cluster.api.podMetrics = undefined;
    expect(replicas.map(({ name, usage, metrics }) => [name, usage, metrics?.activeRuns])).toEqual([
      ['agent-api', { cpuCores: 0.251, memoryBytes: 65 * 2 ** 20 }, 1],
      ['run-worker', { cpuCores: 0.251, memoryBytes: 65 * 2 ** 20 }, 1],
    ]);
  });
});

describe('a revision that fails to start reports why:', () => {
  it('its image cannot be pulled', async () => {
    expect(await failing(specOf(image('registry.example.com/missing:v1')))).toMatch(
      /the image registry.example.com\/missing:v1 cannot be pulled: manifest unknown/,
    );
  });

  it('its image was made for another server', async () => {
    expect(await failing(specOf(image('registry.example.com/foreign:v1')))).toMatch(
      /--base-image runyard\/agent-server:20/,
    );
  });

  it('the cluster has no place for it', async () => {
    const message = await failing(specOf({ resources: { cpu: 8 } }), driver(), 1_500);
    expect(message).toMatch(/agent-api was not healthy in time: the cluster has no place for it: .*Insufficient cpu/);
  });

  it('it asks for fields that would reach other deployments', async () => {
    expect(await failing(specOf({ resources: { volumes: [{ name: 'all', hostPath: { path: '/' } }] } }))).toMatch(
      /pods of this platform have no 'resource_spec.volumes'/,
    );
    const others = { image_pull_secrets: [{ name: `r-${'0'.repeat(32)}-pull` }] };
    expect(await failing(specOf({ resources: others }))).toMatch(
      /resource_spec.image_pull_secrets' is refused: It may not name r-0/,
    );
    expect(await failing(specOf({ resources: { labels: { role: 'admin' } } }))).toMatch(/may not have role here/);
  });

  it('a quota is exhausted', async () => {
    cluster.controllers.forbidsPods = 'pods "x" is forbidden: exceeded quota: compute';
    const message = await failing(specOf(), driver(), 1_500);
    cluster.controllers.forbidsPods = undefined;
    expect(message).toMatch(/exceeded quota: compute/);
  });

  it('it needs more memory than its limit', async () => {
    const spec = specOf({ secrets: { NEVER_HEALTHY: '1' } });
    const failed = failing(spec);
    await waitFor(() => of('pods', spec).some(({ status }) => status?.containerStatuses?.[0]?.state.running), {
      what: 'a container that runs',
    });
    cluster.pod(part('deployments', spec, 'agent-api')!.metadata.name).kill('agent-api', 'OOMKilled');
    expect(await failed).toMatch(
      /agent-api was ended because it needed more memory than its limit before it was healthy/,
    );
  });

  it('this service lacks a permission, or is unknown', async () => {
    const withoutServices = await FakeCluster.start(
      AGENT,
      rules.filter(({ resources }) => !resources.includes('services')),
    );
    try {
      const forbidden = driver({ api: new ClusterApi(client, withoutServices.kubeConfig(), NAMESPACE) });
      expect(await failing(specOf(), forbidden)).toMatch(/cannot patch resource "secrets" in API group ""/);
      const unknown = driver({ api: new ClusterApi(client, cluster.kubeConfig('another token'), NAMESPACE) });
      expect(await failing(specOf(), unknown)).toMatch(/the cluster refuses what it takes to run it: Unauthorized/);
    } finally {
      await withoutServices.close();
    }
  });
});

describe('a cluster that is busy or forgets events', () => {
  it('is asked again after the time it names', async () => {
    cluster.api.refusals.push({ code: 429, retryAfterSeconds: 1 }, { code: 503 });
    const revision = await start(specOf());
    expect(revision.upstreams).toHaveLength(1);
  });

  it('is listed again when it ends a watch and has forgotten the changes', async () => {
    const revision = await start(specOf({ resources: { queue_max_scale: 2 } }));
    cluster.store.compact();
    cluster.api.endWatches();
    revision.scale('run-worker', 2);
    const second = () => revision.replicas().filter(({ url }) => url).length === 3;
    await waitFor(second, { what: 'the second worker' });
    revision.scale('run-worker', 1);
    await waitFor(() => revision.replicas().length === 2, {
      what: 'the end of the second worker',
    });
    expect(revision.replicas().map(({ name }) => name)).toEqual(['agent-api', 'run-worker-1']);
  });
});

describe('a control plane that has ended', () => {
  const pods = (spec: RevisionSpec) =>
    of('pods', spec)
      .map(({ metadata }) => metadata.name)
      .sort();

  it('leaves its pods to the next one, which continues with the very same pods', async () => {
    const spec = specOf();
    const first = driver();
    const revision = await start(spec, first);
    const before = pods(spec);
    const { upstreams } = revision;
    await started.pop()!.release!();
    const adopted = await start({ ...spec, isFirst: false });
    expect([pods(spec), adopted.upstreams]).toEqual([before, upstreams]);
  });

  it('in the middle of a start is continued by the next one', async () => {
    const spec = specOf({ secrets: { NEVER_HEALTHY: '1' } });
    const abort = new AbortController();
    // The driver's reports are dropped from here on, as after a kill.
    const killed = driver({ api: new ClusterApi(client, cluster.kubeConfig(), NAMESPACE) });
    const options = { signal: abort.signal, timeoutMs: HANGS_AFTER_MS, onUpstreams: () => undefined };
    killed.start(spec, options).catch(() => undefined);
    await waitFor(() => pods(spec).length === 1, { what: 'the first pod' });
    const revision = await start({ ...spec, secrets: { NO_DATABASE: '1' } });
    expect(
      revision
        .replicas()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(expect.arrayContaining(['agent-api', 'run-worker']));
    abort.abort(new Error('the end of the test'));
  });

  it('leaves replaced revisions behind, which the next one drains', async () => {
    const replaced = specOf();
    await (await start(replaced)).release!();
    started.pop();
    const spec = specOf({ deploymentId: replaced.deploymentId, isFirst: false });
    await start(spec);
    await waitFor(() => of('secrets', replaced).length === 0 && pods(replaced).length === 0, {
      what: 'the end of the replaced revision',
    });
    expect(pods(spec)).toHaveLength(2);
  });

  it('leaves deleted deployments behind, which the next one removes', async () => {
    const spec = specOf();
    await (await start(spec)).release!();
    started.pop();
    await driver().removeLeftovers(spec.deploymentId);
    expect([...of('deployments', spec), ...of('pods', spec), ...of('secrets', spec)]).toEqual([]);
  });
});

it('the Role grants no permission that is not used', () => {
  const granted = rules.flatMap(({ apiGroups, resources, verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group}/${resource}`))),
  );
  expect([...cluster.api.used].sort()).toEqual([...new Set(granted)].sort());
});
