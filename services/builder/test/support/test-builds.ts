import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { BuildEnd, BuildOrder, BuildReport } from '@runyard/contracts';
import { PROJECT_FOLDER } from '@runyard/deployments';
import { silentLogger } from '@runyard/service-kit';
import { LINK_PACKAGES, PROJECT } from '@runyard/test-kit/built-project';
import { create } from 'tar';
import { Builder, type BuildLimits } from '../../src/build/builder.ts';
import { openBuildUsers } from '../../src/commands/build-users.ts';
import { ProjectSources } from '../../src/fetch/project-sources.ts';
import { BuildSession } from '../../src/jobs/build-session.ts';
import { ProjectResults } from '../../src/results/project-results.ts';

/** Only root may start processes as another user. */
export const PROJECT_USERS = process.geteuid?.() === 0 ? '100000-999999999' : undefined;

const LIMITS: BuildLimits = { memoryBytes: 4e9, processes: 512, disk: { bytes: 4e9, files: 1e6 } };

export interface TestOrder {
  /** Names the deployment; another one for each build unless it is given. */
  id?: string;
  files?: Record<string, string>;
  configPath?: string;
  /** Null: the project's lock file decides. */
  installCommand?: string | null;
  buildCommand?: string | null;
  variables?: Record<string, string>;
}

export interface TestBuild {
  end: BuildEnd;
  /** Why it failed, as control-plane is told; empty when it did not. */
  reason: string;
  /** The messages of its log. */
  lines: string[];
}

/** Runs whole builds as a job does, with a control-plane that keeps what it is told in memory. */
export class TestBuilds {
  /** DATA_DIR of the builder. */
  readonly dataDir: string;
  readonly #builder: Builder;
  readonly #archives = new Map<string, Buffer>();

  private constructor(dataDir: string, open: (client: Pick<TestBuilds, 'open' | 'put'>) => Builder) {
    this.dataDir = dataDir;
    this.#builder = open(this);
  }

  static async start({ limits = LIMITS }: { limits?: BuildLimits } = {}): Promise<TestBuilds> {
    const dataDir = await mkdtemp(join(tmpdir(), 'runyard-builds-'));
    await chmod(dataDir, 0o711);
    const users = await openBuildUsers(PROJECT_USERS, dataDir);
    return new TestBuilds(
      dataDir,
      (client) =>
        new Builder({
          ...{ dataDir, users, limits, pythons: [], minFreeBytes: 0 },
          sources: new ProjectSources({ client, dataDir }),
          results: new ProjectResults({ client, registryUrl: 'http://127.0.0.1:9' }),
        }),
    );
  }

  async close(): Promise<void> {
    await rm(this.dataDir, { recursive: true, force: true });
  }

  async build({
    id = randomUUID(),
    files = PROJECT,
    configPath = 'langgraph.json',
    installCommand = LINK_PACKAGES,
    buildCommand = null,
    variables = {},
  }: TestOrder): Promise<TestBuild> {
    const source = `/source/${randomUUID()}`;
    this.#archives.set(source, await this.#pack(files));
    const order: BuildOrder = {
      deployment_id: id,
      revision_id: randomUUID(),
      source: { kind: 'archive', url: source },
      langgraph_config_path: configPath,
      install_command: installCommand,
      build_command: buildCommand,
      variables,
      timeout_seconds: 240,
      result: { kind: 'archive', url: `/result/${id}`, bytes_max: 4e9 },
      report_url: '/',
      end_url: '/',
    };
    let end: BuildEnd | undefined;
    const lines: string[] = [];
    const client = {
      report: async (_url: string, { log }: BuildReport) => {
        for (const { message } of log?.entries ?? []) lines.push(message);
        return { goes_on: true, last_id: log?.entries.at(-1)?.id ?? null };
      },
      end: async (_url: string, told: BuildEnd) => {
        end = told;
        return { is_accepted: true };
      },
    };
    const work = this.#builder.build.bind(this.#builder);
    await new BuildSession(order, { client, work, logger: silentLogger }).run();
    this.#archives.delete(source);
    return { end: end!, reason: 'message' in end! ? end.message : '', lines };
  }

  /** Unpacks the newest build of a deployment, as data planes do. @returns the folder of the project */
  async unpack(id: string): Promise<string> {
    const folder = await mkdtemp(join(this.dataDir, 'unpacked-'));
    await promisify(execFile)('tar', ['-xzf', this.#resultFile(`/result/${id}`)], { cwd: folder });
    return join(folder, PROJECT_FOLDER);
  }

  /** Answers the builder with the archive of a source. */
  async open(url: string): Promise<Readable> {
    return Readable.from([this.#archives.get(url)!]);
  }

  /** Takes the archive of a built project. */
  async put(url: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    await pipeline(bytes, createWriteStream(this.#resultFile(url)));
  }

  #resultFile(url: string): string {
    return join(this.dataDir, `${url.split('/').at(-1)}.tar.gz`);
  }

  async #pack(files: Record<string, string>): Promise<Buffer> {
    const folder = await mkdtemp(join(this.dataDir, 'source-'));
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), content);
    }
    const chunks: Buffer[] = [];
    for await (const chunk of create({ gzip: true, cwd: folder, portable: true }, Object.keys(files)))
      chunks.push(chunk as Buffer);
    await rm(folder, { recursive: true });
    return Buffer.concat(chunks);
  }
}
