import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  createTestDatabase,
  startServiceProcess,
  type TestDatabase,
  type TestServiceProcess,
  waitFor,
} from '@runyard/test-kit';
import { type FakeServer, sendJson, startFakeServer } from '@runyard/test-kit/fake-platform';

const root = fileURLToPath(new URL('../../../registry/', import.meta.url));

/** Answers what the registry asks control-plane. */
export type AnswerRegistry = (path: string, question: unknown) => Promise<unknown>;

export interface TestRegistry {
  /** The URL for other services, and in tests also for image tools. */
  url: string;
  ready?(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a fake of the registry, which has no images. */
export async function startEmptyRegistry(): Promise<TestRegistry> {
  const nothing = { deployment: 0, workspace: 0, platform: 0 };
  return startFakeServer((req, res) => {
    if (req.url?.startsWith('/v2/')) return sendJson(res, 404, { errors: [{ code: 'NAME_UNKNOWN', message: 'no' }] });
    sendJson(res, 200, req.url === '/internal/images/stored-bytes' ? nothing : {});
  });
}

/** The registry as a process of its own, with its objects in the folder of control-plane. */
export class RegistryProcess implements TestRegistry {
  readonly database: TestDatabase;
  readonly #process: TestServiceProcess;
  readonly #controlPlane: FakeServer;

  private constructor(database: TestDatabase, process: TestServiceProcess, controlPlane: FakeServer) {
    this.database = database;
    this.#process = process;
    this.#controlPlane = controlPlane;
  }

  static async start(options: {
    folder: string;
    internalToken: string;
    controlPlane: AnswerRegistry;
    env?: Record<string, string>;
  }): Promise<RegistryProcess> {
    const database = await createTestDatabase(join(root, 'prisma/migrations'));
    const controlPlane = await startFakeServer(async (req, res) => {
      const answer = options.controlPlane(req.url!, await json(req));
      await answer.then(
        (body) => sendJson(res, 200, body),
        (error: Error) => sendJson(res, 503, { detail: error.message }),
      );
    });
    const process = await startServiceProcess({
      entry: join(root, 'src/main.ts'),
      env: {
        CONTROL_PLANE_URL: controlPlane.url,
        PUBLIC_URL: 'https://agents.example.com',
        DATA_DIR: options.folder,
        ...options.env,
      },
      secrets: { DATABASE_URI: database.url, INTERNAL_TOKEN: options.internalToken },
    });
    return new RegistryProcess(database, process, controlPlane);
  }

  get url(): string {
    return this.#process.url;
  }

  /** Resolves when it serves images, which it does once control-plane has handed over its former rows. */
  async ready(): Promise<void> {
    const isReady = async () => (await fetch(`${this.url}/ok?check_db=1`)).ok;
    await waitFor(isReady, { what: 'the registry' });
  }

  async close(): Promise<void> {
    await this.#process.stop();
    await this.#controlPlane.close();
    await this.database.close();
  }
}
