import type { LocalProject } from '@runyard/deployments';
import { describe, expect, it, vi } from 'vitest';
import { graceSecondsOf, type PlatformSettings } from '../deployment-variables.ts';
import type { RevisionSpec } from '../driver.ts';
import { childVariables, variablesOfBoth } from './child-environment.ts';

const platform: PlatformSettings = {
  host: '127.0.0.1',
  publicUrl: 'http://runyard.example.com/',
  jwksUrl: 'http://org-access.example.com/.well-known/jwks.json',
  graceSeconds: 180,
  logLevel: 'info',
  eventBus: { kind: 'kafka', kafkaBrokers: 'kafka.example.com:9092', topicPrefix: '' },
};

function project(env: Record<string, string> = {}): LocalProject {
  return {
    directory: '/srv/project',
    configPath: '/srv/project/langgraph.json',
    isBuilt: false,
    hasCustomAuth: false,
    authSettings: null,
    env,
  };
}

function spec(secrets: Record<string, string>): RevisionSpec {
  return {
    deploymentId: 'deployment',
    revisionId: 'revision',
    isFirst: false,
    artifact: { kind: 'project', project: project() },
    publicUrls: ['http://runyard.example.com/deployments/deployment', 'http://deployment.example.com'],
    resources: {},
    databaseUri: 'postgres://role:database-password@postgres.example.com/database',
    redisUri: 'redis://user:redis-password@redis.example.com',
    redisKeyPrefix: 'runyard:deployment',
    secrets,
  };
}

describe('the environment of a process', () => {
  it('contains no secret', () => {
    process.env.SOMETHING_OF_THE_PLATFORM = 'platform-secret';
    const { env, secrets } = childVariables(spec({ MODEL_KEY: 'model-key' }), project(), platform, 'agent-api');
    for (const secret of ['platform-secret', 'redis-password', 'database-password', 'model-key']) {
      expect(JSON.stringify(env)).not.toContain(secret);
    }
    expect(secrets).toMatchObject({
      PROJECT_ENV: '{"MODEL_KEY":"model-key"}',
      REDIS_URI: 'redis://user:redis-password@redis.example.com',
    });
    expect(secrets.DATABASE_URI).toContain('database-password');
    delete process.env.SOMETHING_OF_THE_PLATFORM;
  });

  it('has the folder of compiled bundles', () => {
    vi.stubEnv('NODE_COMPILE_CACHE', '/var/lib/runyard/compiled');
    const { env } = childVariables(spec({}), project(), platform, 'run-worker');
    vi.unstubAllEnvs();
    expect(env.NODE_COMPILE_CACHE).toBe('/var/lib/runyard/compiled');
  });

  it('has the login of deployments at Kafka for the server alone, beside what its project gets', () => {
    const readKafkaLogin = { mechanism: 'plain' as const, username: 'deployments', password: 'kafka-password' };
    const eventBus = { ...platform.eventBus, readKafkaLogin, readKafkaTls: { ca: 'PEM' } };
    const variablesOf = (role: 'agent-api' | 'run-worker') =>
      childVariables(spec({ MODEL_KEY: 'model-key' }), project(), { ...platform, eventBus }, role);
    const server = variablesOf('agent-api');
    expect(server.secrets).toMatchObject({
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: 'deployments',
      KAFKA_SASL_PASSWORD: 'kafka-password',
      PROJECT_ENV: '{"MODEL_KEY":"model-key"}',
    });
    expect(server.env).toMatchObject({ KAFKA_SSL: 'true', KAFKA_SSL_CA: 'PEM' });
    expect(JSON.stringify(server.env)).not.toContain('kafka-password');
    expect(JSON.stringify(variablesOf('run-worker'))).not.toContain('kafka-password');
  });

  it('says where spans go as the platform does, with the headers among the secrets', () => {
    const tracing = {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' },
      secrets: { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer otel-secret' },
    };
    const own = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://of-the-project' };
    const { env, secrets } = childVariables(spec(own), project(), { ...platform, tracing }, 'run-worker');
    expect(env.OTEL_EXPORTER_OTLP_ENDPOINT).toBe('http://collector:4318');
    expect(JSON.stringify(env)).not.toContain('otel-secret');
    expect(secrets.OTEL_EXPORTER_OTLP_HEADERS).toContain('otel-secret');
    // Variables of the project are for its own code.
    expect(secrets.PROJECT_ENV).toBe(JSON.stringify(own));
  });

  it('has the server read the schemas of a project that no build has read', () => {
    const variablesOf = (isBuilt: boolean, role: 'agent-api' | 'run-worker') =>
      childVariables(spec({}), { ...project(), isBuilt }, platform, role).env;
    expect(variablesOf(false, 'agent-api').READ_SCHEMAS_AHEAD).toBe('true');
    expect(variablesOf(false, 'run-worker')).not.toHaveProperty('READ_SCHEMAS_AHEAD');
    expect(variablesOf(true, 'agent-api')).not.toHaveProperty('READ_SCHEMAS_AHEAD');
  });

  it('contains tuning from the project, which the deployment overrides, and nothing else', () => {
    const { env } = childVariables(
      spec({
        N_JOBS_PER_WORKER: '4',
        HOST: '0.0.0.0',
        NODE_OPTIONS: '--inspect',
        OUTBOUND_ALLOWED_NETWORKS: '::/0',
      }),
      project({
        N_JOBS_PER_WORKER: '2',
        BG_JOB_MAX_RETRIES: '5',
        DEPLOYMENT_ID: 'another',
        PUBLIC_URLS: 'https://agent.example.org',
      }),
      { ...platform, outboundNetworks: ['10.0.0.0/8', 'fd00::/8'] },
      'agent-api',
    );
    expect(env).toMatchObject({ N_JOBS_PER_WORKER: '4', BG_JOB_MAX_RETRIES: '5', DEPLOYMENT_ID: 'deployment' });
    expect(env.HOST).toBe('127.0.0.1');
    expect(env.PUBLIC_URLS).toBe(
      'http://runyard.example.com/deployments/deployment,http://deployment.example.com,https://agent.example.org',
    );
    expect(env.LANGGRAPH_API_URL).toBe('http://runyard.example.com/deployments/deployment');
    // The platform decides which private networks callers may reach.
    expect(env.OUTBOUND_ALLOWED_NETWORKS).toBe('10.0.0.0/8,fd00::/8');
    expect(env).not.toHaveProperty('NODE_OPTIONS');
  });
});

it.each([
  [{ memory_mb: 4096, queue_memory_mb: 512 }, '4096'],
  [{ memory_mb: 512, queue_memory_mb: 2048 }, '2048'],
  [{ queue_memory_mb: 512 }, ''],
])('a process of both services with %j gives its graph host the larger limit', (resources, limit) => {
  const [server, worker] = (['agent-api', 'run-worker'] as const).map((role) =>
    childVariables({ ...spec({ MODEL_KEY: 'model-key' }), resources }, project(), platform, role),
  );
  const { env, secrets } = variablesOfBoth(server!, worker!);
  expect(JSON.stringify(env)).not.toMatch(/model-key|password/);
  for (const name of ['agent-api', 'run-worker'])
    expect(JSON.parse(secrets[name]!)).toMatchObject({ GRAPH_HOST_HEAP_MB: limit });
  expect(JSON.parse(secrets.process!)).toEqual(env);
});

describe('the grace of a revision', () => {
  it.each([
    [{}, 180],
    [{ BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '10' }, 10],
    [{ BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '0' }, 0],
    [{ BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '99999' }, 3600],
    [{ BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: 'long' }, 180],
    [{ BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '-1' }, 180],
  ])('with %j is %i s', (own, seconds) => {
    expect(graceSecondsOf(own as Record<string, string>, 180)).toBe(seconds);
  });
});
