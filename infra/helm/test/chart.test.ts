import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readConfig } from '@runyard/service-kit';
import { Ajv } from 'ajv';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Job } from 'kubernetes-models/batch/v1';
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Role, RoleBinding } from 'kubernetes-models/rbac.authorization.k8s.io/v1';
import { Namespace, PersistentVolumeClaim, Secret, Service, ServiceAccount } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { Document, isCollection, parse, parseAllDocuments, visit } from 'yaml';
import { CHART, helm } from './helm.ts';
import { INSTALLATIONS, listPods, type Manifest, type PodSpec, render, selects } from './rendered-chart.ts';

const repository = join(import.meta.dirname, '../../..');
const SERVICES = [
  'builder',
  'control-plane',
  'data-plane',
  'gateway',
  'oauth-broker',
  'org-access',
  'registry',
  'run-history',
];
/** The services of an installation: one without an address of the console has none. */
const SERVICES_OF = { small: SERVICES, large: [...SERVICES, 'console'].sort() };
const KINDS = {
  ...{ Deployment, StatefulSet, HorizontalPodAutoscaler, Job, Ingress, NetworkPolicy, PodDisruptionBudget },
  ...{ Role, RoleBinding, Namespace, PersistentVolumeClaim, Secret, Service, ServiceAccount },
};

/** A pod that cannot do without what the Pod Security Standard `restricted` asks for, and writes to volumes alone. */
const RESTRICTED_POD = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  fsGroup: 1000,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
};
/**
 * The exception is the builder. It runs the code of strangers as users of their own, which only root can do, and no
 * other user protects its account of Redis, its files and builds of others from that code.
 */
const BUILDER_POD = { runAsUser: 0, runAsGroup: 0, seccompProfile: { type: 'RuntimeDefault' } };
const RESTRICTED_CONTAINER = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
const BUILDER_CONTAINER = {
  ...RESTRICTED_CONTAINER,
  capabilities: { drop: ['ALL'], add: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETGID', 'SETUID'] },
};

describe.each(INSTALLATIONS)('the installation %s', (installation) => {
  const values = join(import.meta.dirname, 'values', `${installation}.yaml`);
  const manifests = render(installation);
  const pods = manifests.then(listPods);
  const policies = manifests.then((all) => all.filter(({ kind }) => kind === 'NetworkPolicy'));

  it('has no fault that helm lint finds', async () => {
    expect(await helm('lint', CHART, '--strict', '--values', values)).toContain('0 chart(s) failed');
  });

  it('is as its golden file has it (npx vitest run infra/helm --update writes it)', async () => {
    await expect(describeInstallation(await manifests)).toMatchFileSnapshot(`golden/${installation}.yaml`);
  });

  it('has objects that the published schemas of Kubernetes accept, each once', async () => {
    const all = await manifests;
    for (const manifest of all) {
      const Model = KINDS[manifest.kind as keyof typeof KINDS] as new (data: object) => { validate(): void };
      expect(() => new Model(manifest).validate(), `${manifest.kind} ${manifest.metadata.name}`).not.toThrow();
    }
    const names = all.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('has no pod but the builder with a right of root, and none with a writable root or an account that it does not need', async () => {
    for (const { name, spec } of await pods) {
      const isBuilder = name === 'runyard-builder';
      expect(spec.securityContext, name).toEqual(isBuilder ? BUILDER_POD : RESTRICTED_POD);
      for (const container of spec.containers) {
        expect(container.securityContext, name).toEqual(isBuilder ? BUILDER_CONTAINER : RESTRICTED_CONTAINER);
        expect(container.resources, name).toMatchObject({
          requests: { cpu: expect.anything(), memory: expect.anything() },
          limits: { memory: expect.anything() },
        });
      }
      expect(spec.automountServiceAccountToken, name).toBe(name === 'runyard-data-plane');
    }
  });

  it('has probes of every service', async () => {
    for (const [service, spec] of servicePods(await pods, installation)) {
      expect(spec.containers[0], service).toMatchObject({
        startupProbe: { httpGet: { path: '/ok' } },
        livenessProbe: { httpGet: { path: '/ok' } },
        readinessProbe: { httpGet: { path: '/ok?check_db=1' } },
      });
    }
  });

  it('lets requests in flight at a gateway go on for the grace of its pod', async () => {
    const gateway = listPods(await render(installation)).find(({ name }) => name === 'runyard-gateway')!.spec;
    const { terminationGracePeriodSeconds: grace } = gateway as PodSpec & { terminationGracePeriodSeconds: number };
    const drain = Number(gateway.containers[0]!.env.find(({ name }) => name === 'DRAIN_SECONDS')?.value);
    // The pause before the stop, DRAIN_WINDOW_SECONDS, and two seconds to close.
    expect(drain + 3 + 5 + 2).toBeLessThanOrEqual(grace);
    expect(drain).toBeGreaterThan(30);
  });

  it('has selectors that find the pods of their service and no other', async () => {
    const all = await manifests;
    for (const { kind, metadata, spec } of all) {
      const selector = kind === 'Service' ? { matchLabels: spec.selector } : spec?.selector;
      if (!['Deployment', 'StatefulSet', 'PodDisruptionBudget', 'Service'].includes(kind)) continue;
      const found = (await pods).filter(({ labels }) => selects(selector, labels)).map(({ name }) => name);
      expect(found, `${kind} ${metadata.name}`).toEqual([metadata.name]);
    }
    const scaled = all.filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
    const names = (await pods).map(({ name }) => name);
    for (const { spec } of scaled) expect(names).toContain(spec.scaleTargetRef.name);
  });

  it('has a disruption budget for each service of several pods, which lets one go at a time', async () => {
    const all = await manifests;
    const several = all.filter(
      ({ kind, spec }) => ['Deployment', 'StatefulSet'].includes(kind) && (spec.replicas ?? 2) > 1,
    );
    const budgets = all.filter(({ kind }) => kind === 'PodDisruptionBudget');
    const namesOf = (manifests: Manifest[]) => manifests.map(({ metadata }) => metadata.name).sort();
    expect(namesOf(budgets)).toEqual(namesOf(several));
    for (const { spec } of budgets) expect(spec.maxUnavailable).toBe(1);
  });

  it('opens every connection at both ends, and closes all others', async () => {
    const all = await policies;
    const [byDefault] = all;
    expect(byDefault?.spec.policyTypes).toEqual(['Ingress', 'Egress']);
    expect([byDefault?.spec.ingress, byDefault?.spec.egress]).toEqual([undefined, undefined]);
    for (const { labels } of await pods) expect(selects(byDefault?.spec.podSelector, labels)).toBe(true);
    expect(listEdges(all, 'egress')).toEqual(listEdges(all, 'ingress'));
  });

  it('lets a service connect to each service whose address it has', async () => {
    const edges = listEdges(await policies, 'egress');
    for (const [service, spec] of servicePods(await pods, installation)) {
      const called = spec.containers[0]?.env.flatMap(
        ({ name, value }) =>
          (name !== 'PLATFORM_JWKS_URL' && /^http:\/\/runyard-([a-z-]+)\.platform/.exec(value ?? '')?.[1]) || [],
      );
      const allowed = edges.filter(([from]) => from === service).map(([, to]) => to);
      expect(allowed.filter((to) => to !== 'deployments').sort(), service).toEqual(called?.sort());
    }
  });

  it('gives each service the variables that it cannot start without, and none that it does not know', async () => {
    for (const [service, spec] of servicePods(await pods, installation)) {
      const { configSchema } = await import(join(repository, `services/${service}/src/config.ts`));
      const environment = Object.fromEntries(
        (spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value ?? secretExample(name)]),
      );
      expect(() => readConfig(configSchema, { environment }), service).not.toThrow();
      const unknown = Object.keys(environment).filter((name) => name !== 'HOME' && !(name in configSchema.properties));
      expect(unknown, service).toEqual([]);
    }
  });

  it('has no variable twice', async () => {
    for (const { name, spec } of await pods) {
      const names = spec.containers[0]?.env.map((variable) => variable.name) ?? [];
      expect(new Set(names).size, name).toBe(names.length);
    }
  });

  it('keeps secrets out of everything but Secrets', async () => {
    const secret = /:\/\/[^/]*:[^/]+@/;
    for (const { kind, spec, metadata } of await manifests)
      if (kind !== 'Secret') expect(JSON.stringify(spec ?? {}), metadata.name).not.toMatch(secret);
  });

  it('tells who builds and runs projects no address of the server of all databases, nor an inner token', async () => {
    const byService = new Map(servicePods(await pods, installation));
    const names = (service: string) => byService.get(service)?.containers[0]?.env.map(({ name }) => name);
    expect(names('data-plane')).not.toContain('INTERNAL_TOKEN');
    expect(names('data-plane')).not.toContain('DATABASE_URI');
    for (const service of SERVICES_OF[installation].filter((name) => name !== 'data-plane'))
      expect(names(service), service).not.toContain('DATA_POSTGRES_URI');
  });

  it('migrates every database of a service before an upgrade, with nothing but its address', async () => {
    const all = await manifests;
    const migrated = all.filter(({ kind }) => kind === 'Job');
    const withDatabase = servicePods(await pods, installation).filter(([, { containers }]) =>
      containers[0]?.env.some(({ name }) => name === 'DATABASE_URI'),
    );
    expect(migrated.map(({ metadata }) => metadata.name)).toEqual(
      withDatabase.map(([service]) => `runyard-migrations-${service}`),
    );
    for (const { metadata, spec } of migrated) {
      expect(metadata.annotations?.['helm.sh/hook']).toBe('pre-upgrade');
      const { env } = spec.template.spec.containers[0];
      expect(env.map(({ name }: { name: string }) => name)).toEqual(['LOG_JSON', 'DATABASE_URI']);
    }
  });
});

describe('the console', () => {
  const hostsOf = (manifests: Manifest[]) =>
    manifests.find(({ kind }) => kind === 'Ingress')?.spec.rules.map(({ host }: { host: string }) => host);

  it('is reached at a host of its own through the gateway, which knows it and org-access by its address', async () => {
    const manifests = await render('large');
    expect(hostsOf(manifests)).toEqual(['agents.example.com', 'console.example.com', '*.agents.example.net']);
    const variablesOf = (service: string) =>
      listPods(manifests)
        .find(({ name }) => name === `runyard-${service}`)!
        .spec.containers[0]!.env.filter(({ name }) => name.startsWith('CONSOLE_'));
    const address = { name: 'CONSOLE_URL', value: 'https://console.example.com' };
    const service = { name: 'CONSOLE_SERVICE_URL', value: 'http://runyard-console.platform.svc:8000' };
    expect([variablesOf('gateway'), variablesOf('org-access')]).toEqual([[service, address], [address]]);
  });

  it('is not there without an address, and nobody knows of it', async () => {
    const manifests = await render('large', '--set', 'consoleUrl=');
    expect(hostsOf(manifests)).toEqual(['agents.example.com', '*.agents.example.net']);
    expect(JSON.stringify(manifests)).not.toMatch(/console/i);
  });
});

describe('builds', () => {
  const builderOf = async (...args: string[]) => {
    const builder = listPods(await render('small', ...args)).find(({ name }) => name === 'runyard-builder')!.spec;
    const variables = Object.fromEntries(builder.containers[0]!.env.map(({ name, value }) => [name, value]));
    return { ...builder, variables };
  };

  it('run as users of their own, who can neither make settings for the builder nor fill the disk of the node', async () => {
    const { variables, volumes } = await builderOf();
    expect(variables).toMatchObject({ PROJECT_USERS: '100000-999999999', HOME: '/root' });
    expect(volumes).toContainEqual({ name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: '256Mi' } });
    expect(volumes).toContainEqual({ name: 'data', emptyDir: { sizeLimit: '20Gi' } });
  });

  it('run in a pod without a right of root where a cluster admits no other', async () => {
    const { variables, securityContext, containers } = await builderOf('--set', 'services.builder.restricted=true');
    expect([securityContext, containers[0]?.securityContext]).toEqual([RESTRICTED_POD, RESTRICTED_CONTAINER]);
    expect(variables).not.toHaveProperty('PROJECT_USERS');
  });
});

describe('keys', () => {
  const keysOf = (manifests: Manifest[]) =>
    manifests.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === 'runyard-keys');

  it('are made at an installation, each as its service takes it, and outlive the release', async () => {
    const secret = keysOf(await render('small'));
    expect(secret?.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    const texts = Object.entries(secret?.data ?? {}).map(([name, data]) => [
      name,
      Buffer.from(data, 'base64').toString(),
    ]);
    expect(texts).toHaveLength(6);
    for (const [name = '', text = ''] of texts) {
      if (name.endsWith('ENCRYPTION_KEY')) expect(Buffer.from(text, 'base64'), name).toHaveLength(32);
      else expect(text, name).toMatch(/^[A-Za-z0-9]{64}$/);
    }
    expect(new Set(texts.map(([, text]) => text)).size).toBe(6);
  });

  it('are those of the values where these say them, and not made where a Secret has them', async () => {
    const token = 'a-token-of-the-values-with-32-characters';
    const secret = keysOf(await render('small', '--set', `keys.values.INTERNAL_TOKEN=${token}`));
    expect(Buffer.from(secret?.data?.INTERNAL_TOKEN ?? '', 'base64').toString()).toBe(token);
    expect(keysOf(await render('large'))).toBeUndefined();
  });
});

it('the rights of a data plane are those of infra/kubernetes', async () => {
  const role = (await render('small')).find(({ kind }) => kind === 'Role');
  const published = parseAllDocuments(
    await readFile(join(repository, 'infra/kubernetes/data-plane-rbac.yaml'), 'utf8'),
  ).map((document) => document.toJS());
  expect(role?.rules).toEqual(published.find(({ kind }) => kind === 'Role').rules);
});

/** Returns the pods of services by the name of the service. */
function servicePods(
  pods: ReturnType<typeof listPods>,
  installation: (typeof INSTALLATIONS)[number],
): [string, PodSpec][] {
  const found = pods.flatMap(({ labels, spec }): [string, PodSpec][] => {
    const component = labels['app.kubernetes.io/component'] ?? '';
    return component === 'migrations' ? [] : [[component, spec]];
  });
  expect(found.map(([name]) => name).sort()).toEqual(SERVICES_OF[installation]);
  return found.sort(([one], [other]) => one.localeCompare(other));
}

/** Returns who connects to whom within the platform and its deployments, as one end of each connection has it. */
function listEdges(policies: Manifest[], direction: 'ingress' | 'egress'): [string, string][] {
  const nameOf = (labels?: Record<string, string>) => labels?.['app.kubernetes.io/component'] ?? 'deployments';
  const edges = policies.slice(1).flatMap(({ spec, metadata }) => {
    const own = metadata.namespace ? 'deployments' : nameOf(spec.podSelector.matchLabels);
    const peers: Manifest['spec'][] = (spec[direction] ?? []).flatMap(
      (rule: Manifest['spec']) => (direction === 'ingress' ? rule.from : rule.to) ?? [],
    );
    const inside = peers.filter(({ podSelector, namespaceSelector }) => {
      const namespace = namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name'];
      return podSelector !== undefined || ['agents', 'runyard-agents'].includes(namespace);
    });
    return inside.map(({ podSelector }): [string, string] =>
      direction === 'ingress' ? [nameOf(podSelector?.matchLabels), own] : [own, nameOf(podSelector?.matchLabels)],
    );
  });
  return edges.sort(([a, b], [c, d]) => `${a} ${b}`.localeCompare(`${c} ${d}`));
}

/** Returns a text of the form that a variable of a Secret has. */
function secretExample(name: string): string {
  if (name.endsWith('POSTGRES_URI') || name === 'DATABASE_URI') return 'postgres://role:password@postgres/name';
  if (name.endsWith('REDIS_URI')) return 'redis://:password@redis:6379';
  if (name.endsWith('ENCRYPTION_KEY')) return Buffer.alloc(32).toString('base64');
  return 'a'.repeat(64);
}

/**
 * Returns an installation as people read it: variables as a map, and without what rules above say of each pod, and what
 * is made at random.
 */
function describeInstallation(manifests: Manifest[]): string {
  const described = manifests.map(({ kind, metadata, ...rest }) => {
    const { name, namespace, annotations } = metadata;
    const copy = structuredClone(rest) as Partial<Manifest>;
    delete copy.apiVersion;
    if (kind === 'Secret') copy.data = Object.fromEntries(Object.keys(copy.data ?? {}).map((key) => [key, '…']));
    const template = copy.spec?.template;
    if (template) {
      delete template.metadata;
      delete template.spec.securityContext;
      for (const container of template.spec.containers) {
        for (const part of ['securityContext', 'startupProbe', 'livenessProbe', 'readinessProbe', 'lifecycle', 'ports'])
          delete container[part];
        container.env = Object.fromEntries(
          container.env.map(({ name, value, valueFrom }: PodSpec['containers'][0]['env'][0]) => [
            name,
            value ?? `${valueFrom?.secretKeyRef.name}/${valueFrom?.secretKeyRef.key}`,
          ]),
        );
      }
    }
    const text = JSON.stringify({ ...(namespace && { namespace }), ...(annotations && { annotations }), ...copy });
    return [`${kind} ${name}`, JSON.parse(text.replaceAll('app.kubernetes.io/', '')) as object];
  });
  const document = new Document(Object.fromEntries(described), { aliasDuplicateObjects: false });
  visit(document, {
    Collection(_, node) {
      if (isCollection(node) && JSON.stringify(node).length < 90) node.flow = true;
    },
  });
  return document.toString({ lineWidth: 120 });
}

const REDIS = { uri: 'redis://:password@redis.data:6379' };

it('the history reads the events of deployments at their Redis where events go over Redis', async () => {
  const events = ['--set', 'eventBus.kind=redis', '--set', `eventBus.redis.uri=${REDIS.uri}`];
  const pods = listPods(await render('small', ...events, '--set', `redis.history.uri=${REDIS.uri}`));
  const history = pods.find(({ name }) => name === 'runyard-run-history')!.spec.containers[0]!;
  const { secretKeyRef } = history.env.find(({ name }) => name === 'DEPLOYMENTS_REDIS_URI')!.valueFrom!;
  expect(secretKeyRef).toEqual({ name: 'runyard-connections', key: 'REDIS_HISTORY' });
});

describe('values', async () => {
  const accepts = new Ajv({ strictTypes: false }).compile(
    JSON.parse(await readFile(join(CHART, 'values.schema.json'), 'utf8')),
  );
  const defaults = parse(await readFile(join(CHART, 'values.yaml'), 'utf8'));
  const small = parse(await readFile(join(import.meta.dirname, 'values/small.yaml'), 'utf8'));
  /** The values that Helm checks: those of an installation over the defaults. */
  const withChange = (change: object) => merge(merge(defaults, small), change);

  it.each(INSTALLATIONS)('of the installation %s are accepted', async (name) => {
    const own = parse(await readFile(join(import.meta.dirname, 'values', `${name}.yaml`), 'utf8'));
    expect([accepts(merge(defaults, own)), accepts.errors]).toEqual([true, null]);
  });

  it('that the page about Helm shows are accepted, and say what has no default', async () => {
    const page = await readFile(join(repository, 'docs/helm.md'), 'utf8');
    const blocks = [...page.matchAll(/^ {3}```yaml\n([\s\S]*?)^ {3}```$/gm)].map(([, text]) => parse(text!));
    expect(blocks).toHaveLength(2);
    const [withKafka, overRedis] = blocks;
    const { kafka: _, ...others } = withKafka;
    for (const values of [withKafka, merge(others, overRedis)])
      expect([accepts(merge(defaults, values)), accepts.errors]).toEqual([true, null]);
  });

  it.each([
    ['no URL of the gateway', { publicUrl: '' }],
    ['an address of the console with a path', { consoleUrl: 'https://agents.example.com/console' }],
    ['a name that does not exist', { publicURL: 'https://agents.example.com' }],
    ['a service that does not exist', { services: { scheduler: {} } }],
    ['several control-planes', { services: { controlPlane: { replicas: 2 } } }],
    ['a database without an address', { postgres: { registry: { uri: null } } }],
    ['an address of another protocol', { postgres: { registry: { uri: 'mysql://registry@db/registry' } } }],
    ['a Secret without a key', { redis: { platform: { uri: null, secretName: 'redis' } } }],
    ['an address in two forms', { redis: { platform: { secretName: 'redis', key: 'uri' } } }],
    ['Kafka without brokers', { kafka: { brokers: '' } }],
    ['a user of Kafka without a password', { kafka: { username: 'runyard' } }],
    ['events over Redis without its address', { eventBus: { kind: 'redis' }, redis: { history: REDIS } }],
    ['events over Redis that the history cannot read', { eventBus: { kind: 'redis', redis: REDIS } }],
    ['a bucket without credentials', { storage: { s3: { bucket: 'runyard' } } }],
    ['a short token', { keys: { values: { INTERNAL_TOKEN: 'short' } } }],
    ['a variable that is none', { services: { gateway: { env: { 'rate-limit': '1' } } } }],
    ['no pod', { services: { gateway: { replicas: 0 } } }],
  ])('with %s are refused', (_, change) => {
    expect(accepts(withChange(change))).toBe(false);
  });
});

/** Merges as Helm does: maps deeply, and null removes a key. */
function merge(base: unknown, over: unknown): unknown {
  if (!isMap(base) || !isMap(over)) return over;
  const merged = { ...base };
  for (const [key, value] of Object.entries(over)) {
    if (value === null) delete merged[key];
    else merged[key] = merge(merged[key], value);
  }
  return merged;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
