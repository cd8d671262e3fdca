import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FormerImagePage, ImageDeployment, NamedImages } from '@runyard/contracts';
import { ImageRepositories, RegistryAddress, RegistryTokens } from '@runyard/image-registry';
import { ImageClient } from '@runyard/test-kit';
import { type FakeServer, INTERNAL_TOKEN, sendJson, startFakeServer } from '@runyard/test-kit/fake-platform';
import { RegistryProcess } from './registries.ts';

const NO_ROWS: FormerImagePage = {
  kind: null,
  keys: [],
  rows: { deployments: [], uploads: [], blobs: [], base_layers: [], manifests: [], tags: [] },
};
const GIBIBYTE = 1024 ** 3;

/** The registry with deployments of a fake control-plane, behind a line that can be cut. */
export class OwnRegistry {
  readonly tokens = new RegistryTokens(INTERNAL_TOKEN);
  readonly address = new RegistryAddress('https://agents.example.com');
  readonly folder: string;
  readonly #sources = new Map<string, string>();
  #process!: RegistryProcess;
  #line!: FakeServer;
  /** The number of pieces of blobs after which the registry is unavailable over the line. */
  left = Number.POSITIVE_INFINITY;
  /** Runs before each manifest arrives, which does not when it throws. */
  beforeManifest: ((reference: string) => Promise<unknown>) | undefined;
  /** Names of images by which revisions need them. */
  needed: string[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async start(env: Record<string, string>): Promise<OwnRegistry> {
    const self = new OwnRegistry(await mkdtemp(join(tmpdir(), 'runyard-own-registry-')));
    self.#process = await RegistryProcess.start({
      folder: self.folder,
      internalToken: INTERNAL_TOKEN,
      controlPlane: async (path, question) => self.#answer(path, question as { deployment_id: string }),
      env,
    });
    await self.#process.ready();
    self.#line = await startFakeServer(async (req, res) => {
      if (req.method === 'PATCH') self.left -= 1;
      const [, reference] = /\/manifests\/(.+)$/.exec(req.url ?? '') ?? [];
      const isCut =
        req.method === 'PUT' &&
        reference !== undefined &&
        (await self.beforeManifest?.(reference).catch(() => 'cut')) === 'cut';
      if (isCut || self.left < 0 || (self.left === 0 && req.method === 'GET' && req.url?.startsWith('/ok'))) {
        req.resume();
        return sendJson(res, 503, { detail: 'away' });
      }
      const options = { method: req.method ?? 'GET', headers: req.headers };
      const passed = request(self.#process.url + req.url, options, (answer) => {
        res.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(res);
      });
      passed.on('error', () => res.destroy());
      req.pipe(passed);
    });
    return self;
  }

  /** The platform's own repositories, over the line. */
  get repositories(): ImageRepositories {
    return new ImageRepositories({ url: this.lineUrl, tokens: this.tokens });
  }

  /** The registry's URL over the line. */
  get lineUrl(): string {
    return this.#line.url;
  }

  deployment(source = 'internal_docker'): { id: string; repository: string; push: ImageClient } {
    const id = randomUUID();
    this.#sources.set(id, source);
    return { id, repository: `registry/${id}/agent`, push: this.client(id, true) };
  }

  client(deploymentId: string, mayPush: boolean): ImageClient {
    return new ImageClient(this.#process.url, this.tokens.issue({ deploymentId, mayPush }, 60_000));
  }

  async close(): Promise<void> {
    await this.#line.close();
    await this.#process.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  #answer(path: string, question: { deployment_id?: string }): ImageDeployment | NamedImages | FormerImagePage {
    if (path === '/internal/images/former-rows') return NO_ROWS;
    if (path === '/internal/images/named') return { kept: this.needed, old: [] };
    const source = this.#sources.get(question.deployment_id!);
    const sources = { deployment: 0, workspace: 0, platform: 0 };
    const max = { deployment: GIBIBYTE, workspace: GIBIBYTE, platform: null };
    return {
      deployment:
        source === undefined
          ? null
          : {
              workspace_id: question.deployment_id!,
              accepts_pushes: source === 'internal_docker',
              storage: { sources, max },
            },
    };
  }
}
