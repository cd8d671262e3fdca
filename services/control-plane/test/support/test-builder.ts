import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  startServiceInProcess,
  startServiceProcess,
  type TestService,
  type TestServiceProcess,
} from '@runyard/test-kit';
import type { TestPlatform } from './platform.ts';

const ENTRY = fileURLToPath(new URL('../../../builder/src/main.ts', import.meta.url));

/** A builder of the platform, in this process or one of its own. It reaches the control-plane that runs at the time. */
export class TestBuilder {
  /** Its DATA_DIR. */
  readonly folder: string;
  readonly #front: Server;
  readonly #platform: TestPlatform;
  readonly #environment: Record<string, string>;
  readonly #hasOwnProcess: boolean;
  #service: TestService | undefined;

  private constructor(
    platform: TestPlatform,
    options: { folder: string; front: Server; environment: Record<string, string>; hasOwnProcess: boolean },
  ) {
    this.#platform = platform;
    this.folder = options.folder;
    this.#front = options.front;
    this.#environment = options.environment;
    this.#hasOwnProcess = options.hasOwnProcess;
  }

  static async start(
    platform: TestPlatform,
    { environment = {}, hasOwnProcess = false }: { environment?: Record<string, string>; hasOwnProcess?: boolean } = {},
  ): Promise<TestBuilder> {
    const folder = await mkdtemp(join(tmpdir(), 'runyard-builder-'));
    const builder = new TestBuilder(platform, { folder, front: await frontOf(platform), environment, hasOwnProcess });
    await builder.start();
    return builder;
  }

  get service(): TestService {
    if (!this.#service) throw new Error('the builder is not running');
    return this.#service;
  }

  get isRunning(): boolean {
    return this.#service !== undefined;
  }

  async start(): Promise<void> {
    const options = {
      env: {
        CONTROL_PLANE_URL: `http://127.0.0.1:${(this.#front.address() as AddressInfo).port}`,
        REGISTRY_SERVICE_URL: this.#platform.registryUrl,
        BUILD_QUEUE_PREFIX: this.#platform.redis.prefix,
        DATA_DIR: this.folder,
        ...this.#environment,
      },
      secrets: { REDIS_URI: this.#platform.redis.url },
    };
    if (this.#hasOwnProcess) {
      const cwd = fileURLToPath(new URL('../..', pathToFileURL(ENTRY)));
      this.#service = await startServiceProcess({ entry: ENTRY, cwd, ...options });
      return;
    }
    const { configSchema } = await import(new URL('config.ts', pathToFileURL(ENTRY)).href);
    const { run } = await import(new URL('run.ts', pathToFileURL(ENTRY)).href);
    this.#service = await startServiceInProcess({ name: 'builder', schema: configSchema, run }, options);
  }

  async stop(): Promise<void> {
    await this.#service?.stop();
    this.#service = undefined;
  }

  async kill(): Promise<void> {
    if (!('pid' in this.service)) throw new Error('the builder has no process of its own');
    await (this.service as TestServiceProcess).stop({ signal: 'SIGKILL' });
    this.#service = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    this.#front.closeAllConnections();
    await new Promise((resolve) => this.#front.close(resolve));
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Starts a server that forwards to control-plane, whose port is another one after each start. */
async function frontOf(platform: TestPlatform): Promise<Server> {
  const server = createServer((request, response) => {
    const options = { method: request.method ?? 'GET', headers: request.headers };
    const passed = forward(platform.urlForDataPlanes + request.url, options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
