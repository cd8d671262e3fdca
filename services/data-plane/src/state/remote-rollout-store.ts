import { EventEmitter } from 'node:events';
import type {
  DeploymentRoute,
  DesiredDeployment,
  DesiredRevision,
  RevisionReport,
  RevisionStatus,
} from '@runyard/contracts';
import { FINAL_REVISION_STATUSES } from '@runyard/contracts';
import type {
  Activation,
  BudgetsOutcome,
  DesiredBudgets,
  DesiredHalt,
  HaltOutcome,
  RolloutDeployment,
  RolloutRevision,
  SecretSets,
} from '@runyard/deployments';
import { isImageSource, mayFollow, passwordPlace } from '@runyard/deployments';
import type { Cipher } from '@runyard/encryption';
import type { Logger } from '@runyard/service-kit';
import { type ControlPlaneClient, ControlPlaneRefusedError } from '../link/control-plane-client.ts';
import type { ControlPlaneLink } from '../link/control-plane-link.ts';
import type { SharedReports } from '../link/shared-reports.ts';
import type { RolloutStore } from '../roll-outs/rollout-store.ts';
import type { StateFile } from './state-file.ts';

export interface RemoteRolloutStoreOptions {
  stateFile: StateFile;
  client: ControlPlaneClient;
  link: Pick<ControlPlaneLink, 'sendStatus' | 'sendOnce'>;
  /** Both encrypt with the key of this data plane. */
  secrets: SecretSets;
  cipher: Cipher;
  /** Present for the platform's own data planes, which share routes and passwords. */
  shared?: Pick<SharedReports, 'reportRoute' | 'dropRoute' | 'databasePassword'> | undefined;
  /** True when images keep running without this process. Then their routes stay too. */
  imagesOutliveProcess: boolean;
  logger: Logger;
}

const MESSAGE_LENGTH_MAX = 65_536;

/**
 * Stores the desired state that the control plane sent last. A status changes only after the control plane has accepted
 * it: while it is unreachable, roll-outs wait and the serving revisions go on. The routes of a listener's deployments are
 * decided here alone; those of the platform's own are reported.
 */
export class RemoteRolloutStore implements RolloutStore {
  readonly #options: RemoteRolloutStoreOptions;
  /**
   * Deployments whose database role has the password stored here. Another data plane may have set another one
   * meanwhile.
   */
  readonly #ensured = new Set<string>();
  /** Grows with every change, also over restarts. */
  #routeVersion = Date.now();
  /** Emits `change` when the desired state has changed. */
  readonly changes = new EventEmitter().setMaxListeners(0);

  constructor(options: RemoteRolloutStoreOptions) {
    this.#options = options;
    const { stateFile, imagesOutliveProcess } = options;
    for (const { id } of stateFile.state.deployments) {
      if (!imagesOutliveProcess || !this.runsImages(id)) stateFile.localStateOf(id).upstreams = [];
    }
  }

  /** Stores the new desired state. @returns the deployments that differ, including deleted ones */
  async accept(deployments: DesiredDeployment[]): Promise<string[]> {
    const { state } = this.#options.stateFile;
    const before = new Map(state.deployments.map((each) => [each.id, JSON.stringify(each)]));
    const now = new Map(deployments.map((each) => [each.id, JSON.stringify(each)]));
    state.deployments = deployments;
    for (const id of Object.keys(state.own)) if (!now.has(id)) delete state.own[id];
    for (const { id, platform } of deployments) {
      if (!platform) continue;
      const own = this.#options.stateFile.localStateOf(id);
      own.counts = platform.process_counts;
      if (platform.database_password === null) continue;
      own.sealedDatabasePassword ??= this.#encryptPassword(id, platform.database_password);
    }
    await this.#options.stateFile.save();
    this.changes.emit('change');
    return [...new Set([...before.keys(), ...now.keys()])].filter((id) => before.get(id) !== now.get(id));
  }

  async allIds(): Promise<string[]> {
    return this.#options.stateFile.state.deployments.map(({ id }) => id);
  }

  async find(id: string): Promise<RolloutDeployment | null> {
    const found = this.#deployment(id);
    if (!found) return null;
    return {
      id,
      organizationId: found.organization_id,
      workspaceId: found.tenant_id,
      name: found.name,
      slug: found.slug,
      customHost: null,
      status: this.#ensured.has(id) ? found.status : 'AWAITING_DATABASE',
      activeRevisionId: found.active_revision_id,
      latestRevisionId: found.latest_revision_id,
      deleteRequestedAt: found.is_deleted ? new Date() : null,
      encryptedDatabasePassword: this.#options.stateFile.localStateOf(id).sealedDatabasePassword ?? null,
    };
  }

  async findRevision(id: string): Promise<RolloutRevision | null> {
    const found = this.#revision(id);
    return found ? this.#rowOf(found.deployment, found.revision) : null;
  }

  async openRevisions(deploymentId: string): Promise<RolloutRevision[]> {
    return this.#rowsOf(deploymentId).filter(
      ({ status }) => !FINAL_REVISION_STATUSES.includes(status as RevisionStatus),
    );
  }

  async revisionsInUse(deploymentId: string): Promise<RolloutRevision[]> {
    return this.#rowsOf(deploymentId);
  }

  async storeDatabasePassword(id: string, encrypted: string): Promise<string> {
    const { stateFile, shared, cipher } = this.#options;
    const password = cipher.decrypt(encrypted, passwordPlace(id));
    const kept = await shared?.databasePassword(id, password);
    const own = stateFile.localStateOf(id);
    own.sealedDatabasePassword ??= kept === undefined ? encrypted : this.#encryptPassword(id, kept);
    await stateFile.save();
    return own.sealedDatabasePassword;
  }

  async markDatabaseReady(id: string): Promise<void> {
    this.#ensured.add(id);
    const status = this.#deployment(id)?.status;
    if (status !== 'AWAITING_DATABASE' && status !== 'UNUSED') return;
    await this.#reportDeployment(id, 'READY');
    const deployment = this.#deployment(id);
    if (deployment) deployment.status = 'READY';
    await this.#options.stateFile.save();
  }

  async moveRevision(
    { id }: Pick<RolloutRevision, 'id'>,
    to: RevisionStatus,
    message: string | null = null,
  ): Promise<boolean> {
    return this.#reportRevision(id, { status: to, message: message?.slice(0, MESSAGE_LENGTH_MAX) ?? null });
  }

  async activate(revision: RolloutRevision, serving: Activation): Promise<boolean> {
    const { upstreams, hasCustomAuth, imageVersion, mountPrefix } = serving;
    const route = { upstreams, has_custom_auth: hasCustomAuth, mount_prefix: mountPrefix };
    await this.#options.shared?.dropRoute(revision.deploymentId);
    const report = { status: 'DEPLOYED', image_version: imageVersion, ...(this.#options.shared && { route }) } as const;
    if (!(await this.#reportRevision(revision.id, report))) return false;
    const deployment = this.#deployment(revision.deploymentId);
    if (deployment) deployment.active_revision_id = revision.id;
    const own = this.#options.stateFile.localStateOf(revision.deploymentId);
    own.hasCustomAuth = hasCustomAuth;
    own.mounted = { revisionId: revision.id, prefix: mountPrefix };
    await this.#options.stateFile.save();
    await this.#keepUpstreams(revision.deploymentId, upstreams);
    return true;
  }

  async setUpstreams(id: string, upstreams: string[]): Promise<void> {
    await this.#keepUpstreams(id, upstreams);
    this.#options.shared?.reportRoute(id, { upstreams });
  }

  async #keepUpstreams(id: string, upstreams: string[]): Promise<void> {
    const { stateFile } = this.#options;
    const own = stateFile.localStateOf(id);
    if (JSON.stringify(own.upstreams ?? []) === JSON.stringify(upstreams)) return;
    own.upstreams = upstreams;
    this.#routeVersion += 1;
    await stateFile.save();
    this.#options.logger.info('deployment upstreams changed', { deploymentId: id, upstreams });
  }

  async setMountPrefix(id: string, revisionId: string, prefix: string | null): Promise<void> {
    const { stateFile } = this.#options;
    if (this.#deployment(id)?.active_revision_id !== revisionId) return;
    const { mounted } = stateFile.localStateOf(id);
    if (mounted?.revisionId === revisionId && mounted.prefix === prefix) return;
    stateFile.localStateOf(id).mounted = { revisionId, prefix };
    this.#routeVersion += 1;
    await stateFile.save();
    this.#options.shared?.reportRoute(id, { mount: { revision_id: revisionId, prefix } });
  }

  async findHalt(id: string): Promise<DesiredHalt | undefined> {
    const { halt, halt_version: version = 0 } = this.#deployment(id) ?? {};
    if (version === 0) return undefined;
    return { version, reason: halt?.reason ?? null, cancelsQueued: halt?.queued === 'cancel' };
  }

  async reportHalt(id: string, outcome: HaltOutcome): Promise<void> {
    const { client, link } = this.#options;
    await link.sendOnce((epoch, signal) => client.reportHalt(id, { epoch, ...outcome }, signal));
  }

  async findBudgets(id: string): Promise<DesiredBudgets | undefined> {
    const {
      budgets = [],
      exhausted_budgets: exhausted = [],
      budgets_version: version = 0,
    } = this.#deployment(id) ?? {};
    return version === 0 ? undefined : { version, budgets, exhausted };
  }

  async reportBudgets(id: string, outcome: BudgetsOutcome): Promise<void> {
    const { client, link } = this.#options;
    await link.sendOnce((epoch, signal) => client.reportBudgets(id, { epoch, ...outcome }, signal));
  }

  async remove(id: string): Promise<void> {
    const { stateFile } = this.#options;
    await this.#reportDeployment(id, 'DELETED');
    stateFile.state.deployments = stateFile.state.deployments.filter((each) => each.id !== id);
    delete stateFile.state.own[id];
    await stateFile.save();
  }

  /** Reports the routes of all deployments again: another data plane may have had them for a while. */
  reportRoutes(): void {
    const { shared, stateFile } = this.#options;
    for (const { id, is_deleted } of stateFile.state.deployments) {
      const { upstreams } = stateFile.localStateOf(id);
      if (upstreams && !is_deleted) shared?.reportRoute(id, { upstreams });
    }
  }

  /** Forgets all deployments, which others may have from now on. */
  async forgetAll(): Promise<void> {
    this.#options.stateFile.state.deployments = [];
    this.#options.stateFile.state.own = {};
    await this.#options.stateFile.save();
  }

  /** Returns whether this data plane has to run the deployment. */
  has(id: string): boolean {
    return this.#deployment(id) !== undefined;
  }

  /** Returns all URLs by which clients reach a deployment of the platform itself. */
  publicUrlsOf(id: string): string[] {
    return this.#deployment(id)?.platform?.public_urls ?? [];
  }

  /** Returns the cluster's namespace that the deployment ran in; undefined when it has no images or named none. */
  namespaceOf(id: string): string | undefined {
    return this.#deployment(id)?.revisions.at(-1)?.source_config.listener_config?.k8s_namespace ?? undefined;
  }

  /** Returns whether the deployment runs images, as opposed to folders. */
  runsImages(id: string): boolean {
    const revisions = this.#deployment(id)?.revisions ?? [];
    return revisions.some(({ source, image }) => isImageSource(source) || image != null);
  }

  /** Returns the current state of the revision; undefined when it is not in the desired state. */
  currentRevision(id: string): DesiredRevision | undefined {
    return this.#revision(id)?.revision;
  }

  /** Returns the routes of all deployments, for a gateway. */
  routes(): DeploymentRoute[] {
    const there = this.#options.stateFile.state.deployments.filter((each) => !each.is_deleted);
    return there.map((each) => {
      const { upstreams = [], hasCustomAuth = false, mounted } = this.#options.stateFile.localStateOf(each.id);
      return {
        deployment_id: each.id,
        name: each.name,
        slug: each.slug,
        workspace_id: each.tenant_id,
        organization_id: each.organization_id,
        upstreams,
        active_revision_id: each.active_revision_id,
        has_custom_auth: hasCustomAuth,
        mount_prefix: mounted?.revisionId === each.active_revision_id ? mounted.prefix : null,
        version: this.#routeVersion,
      };
    });
  }

  async #reportRevision(
    id: string,
    report: Pick<RevisionReport, 'status' | 'message' | 'image_version' | 'route'>,
  ): Promise<boolean> {
    const { client, link, stateFile } = this.#options;
    const known = this.#revision(id)?.revision.status;
    if (known === undefined || !mayFollow(known, report.status)) return false;
    const { is_accepted, status } = await link
      .sendStatus((epoch, signal) => client.reportRevision({ epoch, revision_id: id, ...report }, signal))
      .catch((error: unknown) => {
        // Another of the platform's data planes may have it: then nothing of it may be changed here any more.
        if (!(error instanceof ControlPlaneRefusedError) || this.#options.shared) throw error;
        // The deployment was deleted meanwhile.
        return { is_accepted: false, status: known };
      });
    const now = this.#revision(id)?.revision;
    if (now) now.status = status;
    await stateFile.save();
    return is_accepted;
  }

  async #reportDeployment(id: string, status: 'READY' | 'DELETED'): Promise<void> {
    const { client, link } = this.#options;
    await link
      .sendStatus((epoch, signal) => client.reportDeployment(id, { epoch, status }, signal))
      .catch((error: unknown) => {
        if (!(error instanceof ControlPlaneRefusedError)) throw error;
        // The deployment was deleted meanwhile.
      });
  }

  #encryptPassword(id: string, password: string): string {
    return this.#options.cipher.encrypt(password, passwordPlace(id));
  }

  #deployment(id: string): DesiredDeployment | undefined {
    return this.#options.stateFile.state.deployments.find((each) => each.id === id);
  }

  #revision(id: string): { deployment: DesiredDeployment; revision: DesiredRevision } | undefined {
    for (const deployment of this.#options.stateFile.state.deployments) {
      const revision = deployment.revisions.find((each) => each.id === id);
      if (revision) return { deployment, revision };
    }
    return undefined;
  }

  #rowsOf(deploymentId: string): RolloutRevision[] {
    const deployment = this.#deployment(deploymentId);
    return deployment?.revisions.map((revision) => this.#rowOf(deployment, revision)) ?? [];
  }

  #rowOf(deployment: DesiredDeployment, revision: DesiredRevision): RolloutRevision {
    return {
      id: revision.id,
      deploymentId: deployment.id,
      number: revision.number,
      status: revision.status,
      source: revision.source,
      sourceConfig: revision.source_config as unknown as RolloutRevision['sourceConfig'],
      sourceRevisionConfig: revision.source_revision_config,
      encryptedSecrets: this.#options.secrets.encrypt(deployment.id, revision.secrets),
      secretReferences: revision.secret_references,
    };
  }
}
