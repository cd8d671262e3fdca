/** A deployment as those who run it know it. */
export interface RolloutDeployment {
  id: string;
  organizationId: string;
  workspaceId: string;
  name: string;
  slug: string;
  customHost: string | null;
  status: string;
  activeRevisionId: string | null;
  latestRevisionId: string;
  deleteRequestedAt: Date | null;
  /** Null until its database is made. */
  encryptedDatabasePassword: string | null;
}

/** A revision as those who build and run it know it. */
export interface RolloutRevision {
  id: string;
  deploymentId: string;
  number: number;
  status: string;
  source: string;
  /** A `SourceConfig` of the contract. */
  sourceConfig: unknown;
  /** A `SourceRevisionConfig` of the contract. */
  sourceRevisionConfig: unknown;
  /** Names and values; null: none. */
  encryptedSecrets: string | null;
  /** A list of `SecretReference` of the contract. */
  secretReferences: unknown;
}

/** Describes how a revision is reached that has become the active one. */
export interface Activation {
  upstreams: string[];
  hasCustomAuth: boolean;
  /** The path below which the revision serves everything; null when it has none or it is not known yet. */
  mountPrefix: string | null;
  /** Null for an image with a server of its own. */
  imageVersion: string | null;
}
