import Type, { type Static } from 'typebox';

/**
 * Clients that wait for a revision know exactly these. A revision stays `DEPLOYED` after it was replaced; the
 * deployment's `active_revision_id` says which one serves.
 */
export const RevisionStatus = Type.Union(
  [
    Type.Literal('CREATING'),
    Type.Literal('QUEUED'),
    Type.Literal('AWAITING_BUILD'),
    Type.Literal('BUILDING'),
    Type.Literal('AWAITING_DEPLOY'),
    Type.Literal('DEPLOYING'),
    Type.Literal('CREATE_FAILED'),
    Type.Literal('BUILD_FAILED'),
    Type.Literal('DEPLOY_FAILED'),
    Type.Literal('DEPLOYED'),
    Type.Literal('SKIPPED'),
    Type.Literal('INTERRUPTED'),
    Type.Literal('UNKNOWN'),
  ],
  { $id: 'RevisionStatus' },
);
export type RevisionStatus = Static<typeof RevisionStatus>;

/** The statuses at which clients stop polling. A revision never leaves them. */
export const FINAL_REVISION_STATUSES: readonly RevisionStatus[] = [
  'DEPLOYED',
  'CREATE_FAILED',
  'BUILD_FAILED',
  'DEPLOY_FAILED',
  'SKIPPED',
  'INTERRUPTED',
];

export const DeploymentStatus = Type.Union(
  [
    Type.Literal('AWAITING_DATABASE'),
    Type.Literal('READY'),
    Type.Literal('UNUSED'),
    Type.Literal('AWAITING_DELETE'),
    Type.Literal('UNKNOWN'),
  ],
  { $id: 'DeploymentStatus' },
);
export type DeploymentStatus = Static<typeof DeploymentStatus>;
