import type { DeploymentSource, Secret, SecretReference, SourceConfig, SourceRevisionConfig } from '@runyard/contracts';
import { withDeadline } from '@runyard/deadline';
import type {
  Artifact,
  ReferencedSecrets,
  RolloutDeployment,
  RolloutRevision,
  SecretSets,
  Semaphore,
} from '@runyard/deployments';
import { Artifacts, BuildError, type BuildInput, type LocalProject, openLocalDirectory } from '@runyard/deployments';
import type { OpenRevisionLog } from '@runyard/revision-logs';
import { secretMask, withLastLines } from '@runyard/revision-logs';
import { isStorageOutage } from '../image-registry/registry-unavailable-error.ts';
import type { RevisionImages } from '../project-images/revision-images.ts';
import type { BuildSource } from './build-source.ts';
import { Builder, type BuilderOptions, type BuildOrder } from './builder.ts';
import { withFreeDisk } from './free-disk.ts';
import { type OutagePauses, retryDuringOutages } from './retry-during-outages.ts';

/** Opens the build source of a revision, by its kind of source. Kinds without an entry are not built. */
export type BuildSources = Partial<Record<DeploymentSource, (revision: RolloutRevision) => Promise<BuildSource>>>;

export interface BuildsOptions extends BuilderOptions {
  sources: BuildSources;
  secrets: SecretSets;
  referenced: Pick<ReferencedSecrets, 'read'>;
  openLog: OpenRevisionLog;
  semaphore: Semaphore;
  /** Limits one build, and separately its waiting for the object storage. */
  timeoutMs: number;
  outagePauses?: OutagePauses;
  /** Free bytes of the disk with `dataDir` below which builds are ended. */
  minFreeBytes: number;
  /** Makes images of built projects, for remote data planes and where projects do not run from a folder. */
  images: RevisionImages;
  /** True when this platform runs a project from the folder it was built in. */
  runsFolders: boolean;
}

const OUTAGE_PAUSES: OutagePauses = { firstMs: 1_000, longestMs: 30_000 };

/**
 * Builds revisions. `semaphore` limits the builds of all deployments together; the caller builds one revision of a
 * deployment at a time.
 */
export class Builds {
  readonly #options: BuildsOptions;
  readonly #artifacts: Artifacts;
  readonly #builder: Builder;

  constructor(options: BuildsOptions) {
    this.#options = options;
    this.#artifacts = new Artifacts(options.dataDir);
    this.#builder = new Builder(this.#artifacts, options);
  }

  /** Returns the key of the revision's build. Its source has to be one that is built. */
  async keyOf(revision: RolloutRevision): Promise<string> {
    return Artifacts.keyOf((await this.#openSource(revision)).input);
  }

  /** Returns whether revisions of this source have to be built before they run. */
  isBuilt(source: string): boolean {
    return this.#options.sources[source as DeploymentSource] !== undefined;
  }

  /** Returns the artifact of the revision; null when it has to be built (again, or on this machine). */
  async find(revision: RolloutRevision): Promise<Artifact | null> {
    const images = this.#imagesFor(revision);
    if (images) return images.find(revision);
    if (!this.isBuilt(revision.source)) return null;
    const project = await this.#projectOf((await this.#openSource(revision)).input);
    return project && { kind: 'project', project };
  }

  /**
   * Makes the artifact of a project that needs no build.
   *
   * @throws BuildError when no image can be made of the project; ObjectStorageUnavailableError when the image cannot
   * be made now
   */
  async useFolder(revision: RolloutRevision, project: LocalProject, signal: AbortSignal): Promise<Artifact> {
    const { openLog } = this.#options;
    const images = this.#imagesFor(revision);
    if (!images) return { kind: 'project', project };
    const log = openLog(buildLogOf(revision), { secrets: [] });
    const say = (line: string) => log.write(line, { source: 'build' });
    try {
      return await images.makeFromFolder(revision, project, { say, signal });
    } catch (error) {
      if (isStorageOutage(error)) say(`${error.message}: trying again`);
      throw error;
    } finally {
      await log.close();
    }
  }

  /**
   * Builds the revision as soon as a slot is free, unless a build with the same input exists. Awaits `onBegin` when it
   * gets its slot. While the object storage it needs is unavailable, the build waits without a slot, so that others can
   * build.
   *
   * @throws BuildError with the last lines of the log; the signal's reason when the signal aborts; any error of
   * `onBegin`
   */
  async build(
    deployment: RolloutDeployment,
    revision: RolloutRevision,
    { signal, onBegin }: { signal: AbortSignal; onBegin: () => Promise<unknown> },
  ): Promise<void> {
    const { semaphore, openLog, timeoutMs, outagePauses: pauses = OUTAGE_PAUSES } = this.#options;
    const images = this.#imagesFor(revision);
    const log = openLog(buildLogOf(revision), { secrets: [] });
    const say = (line: string) => log.write(line, { source: 'build' });
    try {
      const { source } = await this.#openSource(revision);
      const check = () => Promise.all([source.check?.(signal), images?.checkStorage(signal)]);
      const work = (onTurn: () => void) =>
        semaphore.run(signal, async () => {
          onTurn();
          await onBegin();
          await this.#buildInTurn(deployment, revision, signal);
        });
      await retryDuringOutages({ check, work }, { signal, limitMs: timeoutMs, pauses, say });
    } catch (error) {
      signal.throwIfAborted();
      // A build that waited in vain for its slot fails like one that began.
      await onBegin();
      if (!isStorageOutage(error)) throw error;
      throw new BuildError(`${error.message} until the build's time was over.`, { cause: error });
    } finally {
      await log.close();
    }
  }

  /** Removes the deployment's artifacts except those of these revisions. */
  async keepOnly(deploymentId: string, revisions: RolloutRevision[]): Promise<void> {
    const inputs: BuildInput[] = [];
    for (const revision of revisions)
      if (this.isBuilt(revision.source)) inputs.push((await this.#openSource(revision)).input);
    await this.#artifacts.keepOnly(deploymentId, inputs.map(Artifacts.keyOf));
    // Without a revision it is not known what they ran as, and images may be left.
    if (revisions.length > 0 && !revisions.some((revision) => this.#imagesFor(revision))) return;
    const ids = revisions.map(({ id }) => id);
    await this.#options.images.keepOnly(deploymentId, ids, inputs.map(Artifacts.keyOf));
  }

  async remove(deploymentId: string): Promise<void> {
    await this.#builder.remove(deploymentId);
  }

  /** @throws ObjectStorageUnavailableError when a storage it needs became unavailable; the build may be tried again */
  async #buildInTurn(deployment: RolloutDeployment, revision: RolloutRevision, signal: AbortSignal): Promise<void> {
    const { openLog, secrets: sets, timeoutMs, dataDir, minFreeBytes } = this.#options;
    const { input, source } = await this.#openSource(revision);
    const own = sets.decrypt(deployment.id, revision.encryptedSecrets);
    const all = [...own, ...(await this.#readReferenced(deployment, revision))];
    const secrets = Object.fromEntries(all.map(({ name, value }) => [name, value]));
    const log = openLog(buildLogOf(revision), { secrets: Object.values(secrets) });
    try {
      await withDeadline(signal, timeoutMs, async (limited) => {
        const order = { input, source, secrets, log };
        const build = (ended: AbortSignal) => this.#build(revision, { ...order, signal: ended });
        await withFreeDisk(limited, { folder: dataDir, minFreeBytes }, build).catch((error: unknown) => {
          signal.throwIfAborted();
          if (error instanceof BuildError || !limited.aborted) throw error;
          throw new BuildError(`The build was not done within ${timeoutMs / 1000} s`);
        });
      });
    } catch (error) {
      if (!(error instanceof BuildError)) throw error;
      const mask = secretMask(Object.values(secrets));
      throw new BuildError(withLastLines(mask(error.message), log), { cause: error });
    } finally {
      await log.close();
    }
  }

  /** Builds what does not exist yet. Once an image is made, the folder it was made from is not needed any more. */
  async #build(revision: RolloutRevision, order: BuildOrder): Promise<void> {
    const { input, signal, log } = order;
    const say = (line: string) => log.write(line, { source: 'build' });
    const images = this.#imagesFor(revision);
    const makeImage = await images?.begin(revision, Artifacts.keyOf(input), signal);
    const before = await this.#projectOf(input);
    if (images ? makeImage === null : before) {
      say('Nothing of it has changed since it was built: that build is taken');
      return;
    }
    const project = before ?? (await this.#builder.build(order));
    if (!makeImage) return;
    await makeImage(project, say);
    await this.#artifacts.discard(Artifacts.nameOf(input));
  }

  /** Returns undefined for a revision that runs from the folder it was built in. */
  #imagesFor(revision: RolloutRevision): RevisionImages | undefined {
    const { images, runsFolders } = this.#options;
    return runsFolders && !isRemote(revision) ? undefined : images;
  }

  /** Only a data plane can read the values that secrets of its deployments refer to. */
  async #readReferenced(deployment: RolloutDeployment, revision: RolloutRevision): Promise<Secret[]> {
    if (isRemote(revision)) return [];
    return this.#options.referenced.read(deployment, revision.secretReferences as unknown as SecretReference[]);
  }

  async #projectOf(input: BuildInput): Promise<LocalProject | null> {
    const folder = await this.#artifacts.find(Artifacts.nameOf(input));
    return folder === null
      ? null
      : openLocalDirectory({ project_path: folder, langgraph_config_path: input.configPath }, { isBuilt: true });
  }

  async #openSource(revision: RolloutRevision): Promise<{ input: BuildInput; source: BuildSource }> {
    const open = this.#options.sources[revision.source as DeploymentSource];
    if (!open) throw new Error(`revisions of ${revision.source} are not built`);
    const source = await open(revision);
    const input = Artifacts.inputOf(
      revision.deploymentId,
      source.key,
      revision.sourceConfig as SourceConfig,
      revision.sourceRevisionConfig as SourceRevisionConfig,
    );
    return { input, source };
  }
}

/** Returns whether a listener's data plane runs the revision. */
function isRemote({ sourceConfig }: RolloutRevision): boolean {
  return (sourceConfig as SourceConfig).listener_id != null;
}

function buildLogOf({ deploymentId, id }: RolloutRevision) {
  return { deploymentId, revisionId: id, kind: 'build' as const };
}
