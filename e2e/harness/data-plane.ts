/**
 * A data plane as on another machine: servers of its own, a gateway beside it, and one fault line out to the platform.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startInfrastructure } from '@runyard/local-infra';
import { FaultLine, freePort, startServiceProcess, type TestServiceProcess } from '@runyard/test-kit';

const services = path.resolve(import.meta.dirname, '../../services');
const entryOf = (service: string) => path.join(services, service, 'dist/main.js');

export interface DataPlane {
  /** The URL at which callers reach its deployments. */
  url: string;
  /** Its only way to the platform. */
  line: FaultLine;
  stop(): Promise<void>;
}

export async function startDataPlane(options: {
  platformUrl: string;
  listener: { id: string };
  /** The key of the listener. */
  listenerKey: string;
  projectsDir: string;
}): Promise<DataPlane> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'runyard-data-plane-'));
  const closing: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true })];
  const stop = async () => {
    for (const close of closing.splice(0).reverse()) await close();
  };
  try {
    const servers = await startInfrastructure({
      dataDir,
      servers: ['postgres', 'redis'],
      environment: ownEnvironment(),
    });
    closing.push(() => servers.stop());
    const line = await FaultLine.to(options.platformUrl);
    closing.push(() => line.close());
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const bus = { EVENT_BUS: 'redis' };
    const shared = { INTERNAL_TOKEN: randomBytes(16).toString('hex'), EVENT_BUS_REDIS_URI: servers.redis.url };
    const start = async (process: Parameters<typeof startServiceProcess>[0]): Promise<TestServiceProcess> => {
      const started = await startServiceProcess({ readyPath: '/ok?check_db=1', ...process });
      closing.push(() => started.stop());
      return started;
    };
    const dataPlane = await start({
      entry: entryOf('data-plane'),
      env: {
        ...bus,
        CONTROL_PLANE_URL: line.url,
        LISTENER_ID: options.listener.id,
        DATA_DIR: dataDir,
        PROJECTS_DIR: options.projectsDir,
        PUBLIC_URL: url,
        AGENT_API_COMMAND: entryOf('agent-api'),
        RUN_WORKER_COMMAND: entryOf('run-worker'),
        BG_JOB_SHUTDOWN_GRACE_PERIOD_SECS: '5',
      },
      secrets: {
        ...shared,
        LISTENER_KEY: options.listenerKey,
        ENCRYPTION_KEY: randomBytes(32).toString('base64'),
        DATA_POSTGRES_URI: servers.postgres.adminUrl,
        DATA_REDIS_URI: servers.redis.url,
      },
    });
    await start({
      entry: entryOf('gateway'),
      env: {
        ...bus,
        PORT: String(port),
        ORG_ACCESS_URL: dataPlane.url,
        CONTROL_PLANE_URL: dataPlane.url,
        ROUTES_REFRESH_SECONDS: '1',
      },
      secrets: shared,
    });
    return { url, line, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the environment without the servers that this machine's platform uses. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('RUNYARD_')));
}
