import Type, { type Static } from 'typebox';
import { Nullable, OptionalNullable, Timestamp, Uuid } from '../common.ts';
import { DeploymentStatus } from './revision-status.ts';
import { DeploymentSource, RevisionSource, SourceConfig, SourceRevisionConfig } from './sources.ts';

const VariableName = Type.String({ minLength: 1, maxLength: 256, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' });

/** Becomes an environment variable of the deployment's own code. */
export const Secret = Type.Object({ name: VariableName, value: Type.String({ maxLength: 65536 }) }, { $id: 'Secret' });
export type Secret = Static<typeof Secret>;

/**
 * An environment variable whose value is read when a revision starts: a secret of the workspace (`workspace-secrets`), or
 * a value that is stored outside the platform.
 */
export const SecretReference = Type.Object(
  {
    name: VariableName,
    /** `workspace-secrets`, or the name of the Secret in Kubernetes. */
    secret_name: Type.String({ maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' }),
    /** Key of one value in it. */
    secret_key: Type.String({ maxLength: 253, pattern: '^[-._a-zA-Z0-9]+$' }),
  },
  { $id: 'SecretReference' },
);
export type SecretReference = Static<typeof SecretReference>;

const secrets = OptionalNullable(Type.Array(Secret, { maxItems: 500 }));
const secretReferences = OptionalNullable(Type.Array(SecretReference, { maxItems: 500 }));

/** The agent that a deployment runs, by which callers can look it up. An agent has one deployment per environment. */
export const Agent = Type.Object(
  {
    agent_id: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }),
    environment: Type.String({ minLength: 1, maxLength: 50, pattern: '\\S' }),
  },
  { $id: 'Agent' },
);
export type Agent = Static<typeof Agent>;

export const DeploymentCreate = Type.Object(
  {
    /** Optional with `agent`, which then gives the name. */
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
    agent: OptionalNullable(Agent),
    source: DeploymentSource,
    source_config: SourceConfig,
    source_revision_config: SourceRevisionConfig,
    secrets,
    secret_references: secretReferences,
  },
  { $id: 'DeploymentCreateRequest' },
);
export type DeploymentCreate = Static<typeof DeploymentCreate>;

/**
 * A missing or null field changes nothing. A list of secrets or of references to secrets, a `resource_spec` or any
 * field of `source_revision_config` makes a new revision.
 */
export const DeploymentPatch = Type.Object(
  {
    /** A name for people. `name` and the URLs stay as they are. */
    display_name: OptionalNullable(Type.String({ minLength: 1, maxLength: 255 })),
    /** Source of the new revision; default: `source` of the deployment. 422 where the change makes none. */
    revision_source: OptionalNullable(RevisionSource),
    source_config: OptionalNullable(SourceConfig),
    source_revision_config: OptionalNullable(SourceRevisionConfig),
    /** Replaces the whole set. */
    secrets,
    /** Replaces the whole set. */
    secret_references: secretReferences,
    /**
     * Packages of the project, such as `langgraph:1.0.0`, stored with the new revision. 422 where the change makes
     * none.
     */
    tracked_packages: OptionalNullable(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 1000 })),
  },
  { $id: 'DeploymentPatchRequest' },
);
export type DeploymentPatch = Static<typeof DeploymentPatch>;

export const Deployment = Type.Object(
  {
    id: Uuid,
    /** The workspace of the deployment. */
    tenant_id: Uuid,
    name: Type.String(),
    /** Null until a change sets it. */
    display_name: Nullable(Type.String()),
    agent: Nullable(Agent),
    source: DeploymentSource,
    source_config: SourceConfig,
    /** Configuration of the latest revision. */
    source_revision_config: SourceRevisionConfig,
    /**
     * The root of the deployment's own host, for clients that build `new URL('/path', base)`: its `custom_url` if that
     * is a root, else `<slug>.<domain>`. Null where the platform has no domain for deployments, and for deployments of
     * a listener.
     */
    host_url: Nullable(Type.String()),
    /** Null for callers who may not update the deployment: they may not read its secrets. */
    secrets: Nullable(Type.Array(Secret)),
    secret_references: Type.Array(SecretReference),
    status: DeploymentStatus,
    latest_revision_id: Nullable(Uuid),
    /** The revision that serves. */
    active_revision_id: Nullable(Uuid),
    /**
     * Version of the agent server that serves, as in its `/info`; null while none does, and for images with their own
     * server.
     */
    image_version: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { $id: 'Deployment' },
);
export type Deployment = Static<typeof Deployment>;

/** The result for each deployment of the request. */
export const DeploymentDeletions = Type.Object(
  {
    deleted: Type.Array(Uuid),
    failed: Type.Array(Type.Object({ id: Uuid, detail: Type.String() })),
  },
  { $id: 'DeploymentDeletions' },
);
export type DeploymentDeletions = Static<typeof DeploymentDeletions>;

export const DeploymentList = Type.Object(
  {
    resources: Type.Array(Deployment),
    /** The offset of the next page. */
    offset: Type.Integer(),
  },
  { $id: 'DeploymentList' },
);
export type DeploymentList = Static<typeof DeploymentList>;

export const exampleDeployment: Deployment = {
  id: '0192f7a0-0000-7000-8000-000000000001',
  tenant_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
  name: 'hello-agent',
  display_name: null,
  agent: null,
  source: 'local_directory',
  source_config: {
    project_path: '/srv/hello-agent',
    deployment_type: 'dev',
    custom_url: 'https://agents.example.com/deployments/0192f7a0-0000-7000-8000-000000000001',
  },
  source_revision_config: { langgraph_config_path: 'langgraph.json' },
  host_url: 'https://hello-agent.agents.example.com',
  secrets: [{ name: 'MODEL_KEY', value: 'a value' }],
  secret_references: [],
  status: 'READY',
  latest_revision_id: '0192f7a0-0000-7000-8000-000000000002',
  active_revision_id: '0192f7a0-0000-7000-8000-000000000002',
  image_version: '0.7.46',
  created_at: '2026-11-20T12:00:00.000Z',
  updated_at: '2026-11-20T12:00:05.000Z',
};

export const DeploymentParams = Type.Object({ deployment_id: Uuid });

export const deploymentPage = {
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
  offset: Type.Integer({ minimum: 0, default: 0 }),
};
