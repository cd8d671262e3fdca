import type {
  BuildOrder,
  DeploymentSource,
  OrderedResult,
  OrderedSource,
  ProjectLayer,
  Secret,
  SecretReference,
  SourceConfig,
  SourceRevisionConfig,
} from '@runyard/contracts';
import { withDeadline } from '@runyard/deadline';
import type {
  ProjectImages,
  ReferencedSecrets,
  RolloutDeployment,
  RolloutRevision,
  SecretSets,
} from '@runyard/deployments';
import { Artifacts, BuildError, type BuildInput, openFolderOf } from '@runyard/deployments';
import type { RegistryService } from '@runyard/image-registry';
import type { OpenRevisionLog, RevisionLog } from '@runyard/revision-logs';
import { isStorageOutage } from '../image-registry/storage-outage.ts';
import type { BuildSource, BuildSources } from '../sources/build-source.ts';
import type { BuildArchives } from './build-archives.ts';
import type { BuildProduct } from './build-store.ts';
import type { BuildUrls } from './build-urls.ts';
import { type OutagePauses, retryDuringOutages } from './retry-during-outages.ts';

export interface BuildsOptions {
  sources: BuildSources;
  secrets: SecretSets;
  referenced: Pick<ReferencedSecrets, 'read'>;
  openLog: OpenRevisionLog;
  /** Limits one build, and separately its waiting for the object storage. */
  timeoutMs: number;
  outagePauses?: OutagePauses;
  /** Makes images of built projects, for remote data planes and where projects do not run from a folder. */
  images: Pick<ProjectImages, 'prepare' | 'make' | 'findArchitecture' | 'issuePushToken' | 'keepOnly'>;
  registry: Pick<RegistryService, 'checkAvailable'>;
  archives: Pick<BuildArchives, 'has'>;
  /** Bytes of one built project, unpacked, where it is kept as an archive. */
  archiveBytesMax: number;
  urls: BuildUrls;
  /** True when this platform runs a project from the folder it was built in. */
  runsFolders: boolean;
}

const OUTAGE_PAUSES: OutagePauses = { firstMs: 1_000, longestMs: 30_000 };

/** Knows what is built of a revision: what is there already, what a builder has to do, and what becomes of it. */
export class Builds {
  readonly #options: BuildsOptions;

  constructor(options: BuildsOptions) {
    this.#options = options;
  }

  /**
   * Prepares the build of a revision, and returns its product when nothing has to be built, as a build with the same
   * input exists. While the storage is unavailable that a build needs, it waits here and takes no builder.
   *
   * @throws BuildError when nothing can be built of it; the signal's reason when the signal aborts
   */
  async prepare(revision: RolloutRevision, signal: AbortSignal): Promise<BuildProduct | null> {
    const { openLog, timeoutMs, registry, outagePauses: pauses = OUTAGE_PAUSES } = this.#options;
    const log = openLog(buildLogOf(revision), { secrets: [] });
    const say = (line: string) => log.write(line, { source: 'build' });
    try {
      const source = await this.#openSource(revision);
      const images = this.#imagesFor(revision);
      const check = () => Promise.all([source?.check?.(signal), images && registry.checkAvailable(signal)]);
      const work = () =>
        withDeadline(signal, timeoutMs, (limited) => this.#findProduct(revision, source, log, limited));
      return await retryDuringOutages({ check, work }, { signal, limitMs: timeoutMs, pauses, say });
    } catch (error) {
      signal.throwIfAborted();
      if (!isStorageOutage(error)) throw error;
      throw new BuildError(`${error.message} until the build's time was over.`, { cause: error });
    } finally {
      await log.close();
    }
  }

  /**
   * Says what a builder needs to know, but the epoch of its order.
   *
   * @throws BuildError; UnavailableError when it cannot be said now
   */
  async describe(
    deployment: RolloutDeployment,
    revision: RolloutRevision,
    signal: AbortSignal,
  ): Promise<(epoch: number) => BuildOrder> {
    const { urls, timeoutMs, secrets: sets } = this.#options;
    const { id, deploymentId } = revision;
    const source = await this.#openSource(revision);
    const input = this.#inputOf(revision, source);
    const own = sets.decrypt(deploymentId, revision.encryptedSecrets);
    const all = [...own, ...(await this.#readReferenced(deployment, revision))];
    const resultOf = await this.#describeResult(revision, signal);
    const sourceAt = source ? await source.describe() : await describeFolder(revision);
    return (epoch) => ({
      deployment_id: deploymentId,
      revision_id: id,
      source: sourceAt(urls.make('source', id, epoch)),
      langgraph_config_path: input.configPath,
      install_command: input.installCommand,
      build_command: input.buildCommand,
      variables: Object.fromEntries(all.map(({ name, value }) => [name, value])),
      timeout_seconds: Math.ceil(timeoutMs / 1000),
      result: resultOf(epoch),
      report_url: urls.make('report', id, epoch),
      end_url: urls.make('end', id, epoch),
    });
  }

  /** Names the archive of a revision's build. */
  async archiveOf(revision: RolloutRevision): Promise<{ deploymentId: string; key: string }> {
    return Artifacts.nameOf(this.#inputOf(revision, await this.#openSource(revision)));
  }

  /** Returns the product of a build that a builder has put; null when its archive is not there. */
  async findArchive(revision: RolloutRevision, signal: AbortSignal): Promise<BuildProduct | null> {
    const name = await this.archiveOf(revision);
    return (await this.#options.archives.has(name, signal)) ? { key: name.key } : null;
  }

  /**
   * Makes the image of a revision, whose project a builder has pushed.
   *
   * @returns null when its layer is gone
   * @throws BuildError; RegistryUnavailableError
   */
  async makeImage(revision: RolloutRevision, layer: ProjectLayer, signal: AbortSignal): Promise<BuildProduct | null> {
    const { openLog, images } = this.#options;
    const log = openLog(buildLogOf(revision), { secrets: [] });
    try {
      const source = await this.#openSource(revision);
      const build = source && Artifacts.keyOf(this.#inputOf(revision, source));
      const say = (line: string) => log.write(line, { source: 'build' });
      return await images.make(revision, build, layer, { say, signal });
    } finally {
      await log.close();
    }
  }

  /** Removes the deployment's images except those of these revisions. */
  async keepOnly(deploymentId: string, revisions: RolloutRevision[]): Promise<void> {
    // Without a revision it is not known what they ran as, and images may be left.
    if (revisions.length > 0 && !revisions.some((revision) => this.#imagesFor(revision))) return;
    const keys: string[] = [];
    for (const revision of revisions) {
      const source = await this.#openSource(revision);
      if (source) keys.push(Artifacts.keyOf(this.#inputOf(revision, source)));
    }
    const ids = revisions.map(({ id }) => id);
    await this.#options.images.keepOnly(deploymentId, ids, keys);
  }

  async #findProduct(
    revision: RolloutRevision,
    source: BuildSource | null,
    log: Pick<RevisionLog, 'write'>,
    signal: AbortSignal,
  ): Promise<BuildProduct | null> {
    const say = (line: string) => log.write(line, { source: 'build' });
    const images = this.#imagesFor(revision);
    if (!source) await openFolderOf(revision);
    const build = source && Artifacts.keyOf(this.#inputOf(revision, source));
    const product = images
      ? await images.prepare(revision, build, { say, signal })
      : await this.findArchive(revision, signal);
    if (product) say('Nothing of it has changed since it was built: that build is taken');
    return product;
  }

  async #describeResult(revision: RolloutRevision, signal: AbortSignal): Promise<(epoch: number) => OrderedResult> {
    const { urls, archiveBytesMax } = this.#options;
    const images = this.#imagesFor(revision);
    if (!images) {
      return (epoch) => ({
        kind: 'archive',
        url: urls.make('archive', revision.id, epoch),
        bytes_max: archiveBytesMax,
      });
    }
    const architecture = await images.findArchitecture(signal);
    const pushToken = images.issuePushToken(revision.deploymentId);
    return () => ({ kind: 'layer', push_token: pushToken, architecture });
  }

  /** Returns undefined for a revision that runs from the folder it was built in. */
  #imagesFor(revision: RolloutRevision): BuildsOptions['images'] | undefined {
    const { images, runsFolders } = this.#options;
    return runsFolders && !isRemote(revision) ? undefined : images;
  }

  /** Only a data plane can read the values that secrets of its deployments refer to. */
  async #readReferenced(deployment: RolloutDeployment, revision: RolloutRevision): Promise<Secret[]> {
    if (isRemote(revision)) return [];
    return this.#options.referenced.read(deployment, revision.secretReferences as unknown as SecretReference[]);
  }

  /** Returns null for a folder, which needs no build. */
  async #openSource(revision: RolloutRevision): Promise<BuildSource | null> {
    const open = this.#options.sources[revision.source as DeploymentSource];
    if (open) return open(revision);
    if (revision.source === ('local_directory' satisfies DeploymentSource)) return null;
    throw new Error(`revisions of ${revision.source} are not built`);
  }

  #inputOf(revision: RolloutRevision, source: BuildSource | null): BuildInput {
    return Artifacts.inputOf(
      revision.deploymentId,
      source?.key ?? revision.id,
      revision.sourceConfig as SourceConfig,
      revision.sourceRevisionConfig as SourceRevisionConfig,
    );
  }
}

/** Returns whether a listener's data plane runs the revision. */
function isRemote({ sourceConfig }: RolloutRevision): boolean {
  return (sourceConfig as SourceConfig).listener_id != null;
}

function buildLogOf({ deploymentId, id }: RolloutRevision) {
  return { deploymentId, revisionId: id, kind: 'build' as const };
}

/** @throws BadRequestError that names the fault in the folder */
async function describeFolder(revision: RolloutRevision): Promise<() => OrderedSource> {
  const { directory: path } = await openFolderOf(revision);
  return () => ({ kind: 'folder', path });
}
