import Type, { type Static } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { Nullable, OptionalNullable, Uuid } from '../../common.ts';
import { ExhaustedSum } from '../budget-sums.ts';
import { BudgetTerms } from '../budgets.ts';
import { Secret, SecretReference } from '../deployments.ts';
import { QueuedRuns } from '../halts.ts';
import { ListenerParams, listenerErrorResponses } from '../listeners.ts';
import { DeploymentStatus, RevisionStatus } from '../revision-status.ts';
import { DeploymentSource, SourceConfig, SourceRevisionConfig } from '../sources.ts';
import { dataPlaneTags, Epoch, staleEpochResponse } from './epoch.ts';
import { DATA_PLANE_PERMISSION } from './permission.ts';
import { ProcessCounts } from './process-counts.ts';

/** Longest wait for a change, in seconds: shorter than the timeouts of usual proxies, and much shorter than a lease. */
const WAIT_SECONDS_MAX = 30;

/** An image in the platform's own registry. The data plane requests a token to pull it (`pull-token`). */
export const PlatformImage = Type.Object(
  {
    uri: Type.String(),
    /** The project's variables that tune the platform's part, for an image that the platform built from a project. */
    settings: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** The CPU architecture as images name it; missing when it is not known. */
    architecture: Type.Optional(Type.String()),
  },
  { $id: 'PlatformImage' },
);
export type PlatformImage = Static<typeof PlatformImage>;

/** A project that the platform has built, as an archive. */
export const PlatformBuild = Type.Object(
  {
    /** Equal for revisions of the deployment that share the build. */
    key: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  },
  { $id: 'PlatformBuild' },
);
export type PlatformBuild = Static<typeof PlatformBuild>;

/** Everything one roll-out needs. */
export const DesiredRevision = Type.Object(
  {
    id: Uuid,
    /** Grows with every revision of the deployment. */
    number: Type.Integer(),
    status: RevisionStatus,
    source: DeploymentSource,
    source_config: SourceConfig,
    source_revision_config: SourceRevisionConfig,
    /** Secrets with their values. */
    secrets: Type.Array(Secret),
    /** References that the data plane resolves where it runs. */
    secret_references: Type.Array(SecretReference),
    /**
     * Null for images from elsewhere, and while the platform has not built the image. Platforms of earlier releases
     * leave it out.
     */
    image: OptionalNullable(PlatformImage),
    /**
     * A project that the platform has built to run as processes. Only for data planes of the platform itself, which fetch
     * it (`build`).
     */
    build: Type.Optional(PlatformBuild),
  },
  { $id: 'DesiredRevision' },
);
export type DesiredRevision = Static<typeof DesiredRevision>;

/** The part of a deployment's state that the platform's own data planes share, so that another can take it up. */
export const SharedState = Type.Object(
  {
    /** The password of the deployment's database; null until the first one is stored. */
    database_password: Nullable(Type.String()),
    /** All URLs by which clients reach the deployment. */
    public_urls: Type.Array(Type.String()),
    /** The last numbers of its processes. */
    process_counts: ProcessCounts,
  },
  { $id: 'SharedState' },
);
export type SharedState = Static<typeof SharedState>;

export const DesiredDeployment = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    /** Unique over all workspaces: it can replace the id in the deployment's URL. */
    slug: Type.String(),
    organization_id: Uuid,
    tenant_id: Uuid,
    status: DeploymentStatus,
    /** True when everything of it has to be deleted. The data plane reports `DELETED` when that is done. */
    is_deleted: Type.Boolean(),
    /** The revision that has to serve. */
    active_revision_id: Nullable(Uuid),
    latest_revision_id: Uuid,
    /**
     * The kill switch: no run is created or claimed, and running ones are cancelled, while it is set. Null: it is not
     * halted. Platforms of earlier releases leave it out.
     */
    halt: OptionalNullable(Type.Object({ reason: Type.String(), queued: QueuedRuns })),
    /** Grows with every change of `halt`; 0 and missing: there was never one. The data plane reports which it reached. */
    halt_version: Type.Optional(Type.Integer({ minimum: 0 })),
    /** The caps on its use. Platforms of earlier releases leave them out. */
    budgets: Type.Optional(Type.Array(BudgetTerms)),
    /** Those of the workspace that all deployments together have used up, and by whom. */
    exhausted_budgets: Type.Optional(Type.Array(Type.Omit(ExhaustedSum, ['max']))),
    /** Grows with every change of both; 0 and missing: there was never one. */
    budgets_version: Type.Optional(Type.Integer({ minimum: 0 })),
    /** The active revision, the latest, and those that are not finished; oldest first. */
    revisions: Type.Array(DesiredRevision),
    /** Only for data planes of the platform itself. */
    platform: Type.Optional(SharedState),
  },
  { $id: 'DesiredDeployment' },
);
export type DesiredDeployment = Static<typeof DesiredDeployment>;

export const ListenerDesiredState = Type.Object(
  {
    /** The value for `since`; it changes with everything below. */
    resource_version: Type.String(),
    deployments: Type.Array(DesiredDeployment),
  },
  { $id: 'ListenerDesiredState' },
);
export type ListenerDesiredState = Static<typeof ListenerDesiredState>;

const exampleDesired: ListenerDesiredState = {
  resource_version: '4f0e9a510a53d0a0',
  deployments: [
    {
      id: '0192f7a0-0000-7000-8000-000000000001',
      name: 'hello-agent',
      slug: 'hello-agent',
      organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
      tenant_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
      status: 'READY',
      is_deleted: false,
      active_revision_id: '0192f7a0-0000-7000-8000-000000000002',
      latest_revision_id: '0192f7a0-0000-7000-8000-000000000002',
      revisions: [
        {
          id: '0192f7a0-0000-7000-8000-000000000002',
          number: 1,
          status: 'DEPLOYED',
          source: 'external_docker',
          source_config: { listener_id: '0192f7a0-0000-7000-8000-000000000021' },
          source_revision_config: { image_uri: 'registry.example.com/agent:1' },
          secrets: [{ name: 'MODEL_KEY', value: 'a key' }],
          secret_references: [],
          image: null,
        },
      ],
    },
  ],
};

export const getListenerDesiredState = defineOperation({
  operationId: 'getListenerDesiredState',
  method: 'get',
  path: '/v2/listeners/{listener_id}/desired-state',
  summary: 'All that the data plane is to run, as soon as it is not what `since` names.',
  tags: dataPlaneTags,
  access: 'principal',
  permission: DATA_PLANE_PERMISSION,
  params: ListenerParams,
  query: Type.Object({
    epoch: Epoch,
    since: Type.Optional(Type.String({ maxLength: 100, description: 'The `resource_version` known already.' })),
    wait_seconds: Type.Number({
      minimum: 0,
      maximum: WAIT_SECONDS_MAX,
      default: 0,
      description: 'How long to wait for a change.',
    }),
  }),
  responses: {
    200: { description: 'What is to run, secrets included.', schema: ListenerDesiredState, example: exampleDesired },
    204: { description: 'It is still what `since` names.' },
    409: staleEpochResponse,
    ...listenerErrorResponses,
  },
});
