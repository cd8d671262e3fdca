import type {
  Deployment as DeploymentBody,
  DeploymentSource,
  Revision as RevisionBody,
  RevisionStatus,
  SecretReference,
  SourceConfig,
  SourceRevisionConfig,
} from '@runyard/contracts';
import { type HostNames, isRoot, type SecretSets, type StoredSourceConfig, toSentUrl } from '@runyard/deployments';
import { hasPermission, type Principal } from '@runyard/service-kit';
import type { Deployment, Revision } from '../generated/client.ts';
import { shownStatus } from '../revisions/shown-status.ts';

/** Makes the response bodies of deployments and revisions. */
export class DeploymentView {
  readonly #hosts: HostNames;
  readonly #secrets: SecretSets;

  constructor(options: { hosts: HostNames; secrets: SecretSets }) {
    this.#hosts = options.hosts;
    this.#secrets = options.secrets;
  }

  /** Shows secrets only to readers who may update the deployment. */
  deployment(row: Deployment, reader: Pick<Principal, 'permissions'>): DeploymentBody {
    const { custom_url_as_sent: _, ...config } = row.sourceConfig as StoredSourceConfig;
    return {
      id: row.id,
      tenant_id: row.workspaceId,
      name: row.name,
      display_name: row.displayName,
      agent: row.agentId === null ? null : { agent_id: row.agentId, environment: row.agentEnvironment ?? '' },
      source: row.source as DeploymentSource,
      source_config: { ...config, custom_url: this.urlOf(row) },
      source_revision_config: row.sourceRevisionConfig as SourceRevisionConfig,
      host_url: this.#hostUrlOf(row),
      secrets: hasPermission(reader, 'deployments:update') ? this.#secrets.decrypt(row.id, row.encryptedSecrets) : null,
      secret_references: row.secretReferences as unknown as SecretReference[],
      status: shownStatus(row),
      latest_revision_id: row.latestRevisionId,
      active_revision_id: row.activeRevisionId,
      image_version: row.imageVersion,
      created_at: row.createdAt.toISOString(),
      updated_at: row.updatedAt.toISOString(),
    };
  }

  /** Returns the deployment's URL for clients; null while its remote data plane has not reported one. */
  urlOf(row: Deployment): string | null {
    const own = toSentUrl(row.sourceConfig as StoredSourceConfig);
    if (own != null) return own;
    if (row.listenerId === null) return this.#hosts.defaultUrlOf(row);
    return row.dataPlaneUrl === null ? null : `${row.dataPlaneUrl}/deployments/${row.id}`;
  }

  /**
   * Returns all URLs that answers may have shown for it, under earlier settings too. Callers may send back each of
   * them.
   */
  shownUrlsOf(row: Deployment): (string | null)[] {
    const { custom_url: own } = row.sourceConfig as SourceConfig;
    if (own != null || row.listenerId !== null) return [this.urlOf(row)];
    return [this.#hosts.pathUrlOf(row), this.#hosts.slugUrlOf(row)];
  }

  /** Returns the URL of the host whose paths all belong to the deployment; null when it has none. */
  #hostUrlOf(row: Deployment): string | null {
    const { custom_url: own } = row.sourceConfig as SourceConfig;
    if (own != null && isRoot(own)) return own.replace(/\/$/, '');
    return row.listenerId === null ? this.#hosts.slugUrlOf(row) : null;
  }

  revision(row: Revision): RevisionBody {
    return {
      id: row.id,
      status: row.status as RevisionStatus,
      status_message: row.statusMessage,
      source: row.source as DeploymentSource,
      source_revision_config: row.sourceRevisionConfig as SourceRevisionConfig,
      tracked_packages: row.trackedPackages,
      created_at: row.createdAt.toISOString(),
      updated_at: row.updatedAt.toISOString(),
    };
  }
}
