import Type, { type Static } from 'typebox';
import { defineCreation } from '../../idempotency.ts';
import { defineOperation, type Operation } from '../../operation.ts';
import type { Permission } from '../../permissions.ts';
import { stringEnum } from '../agent-server/parts.ts';
import { Nullable, OptionalNullable, Timestamp, Uuid } from '../common.ts';
import { DeploymentParams } from './deployments.ts';
import {
  BadRequestResponse,
  ForbiddenResponse,
  InvalidResponse,
  NotFoundResponse,
  UnauthorizedResponse,
} from './responses.ts';

/** Budgets of one deployment, or of a workspace: each of them is looked at for every run that is created. */
export const BUDGETS_MAX = 50;

const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
  description: 'Clients that are refused are shown it.',
});
const Subject = stringEnum(['workspace', 'deployment', 'assistant', 'creator', 'key'], {
  description:
    'Whose runs are counted together: all of the workspace, all of a deployment, those of an assistant, those of a creator (a person, an end user as the project calls them, a service key), or those made by a key of the platform. `workspace` is for budgets of a workspace alone, and `assistant` for those of a deployment.',
});
const SubjectId = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[^\\u0000]*$',
  description:
    'One assistant, creator or key alone, by its id or identity. Default: a budget of this size for each of them.',
});
const Period = stringEnum(['hour', 'day', 'month'], {
  description: 'The time, in UTC, after which counting begins anew.',
});
const MODES = ['enforced', 'shadow'] as const;
const modeIs = {
  description:
    '`enforced`: once it is used up, new runs are refused and those under way stop at their next checkpoint. `shadow`: the log of the deployment says what would have happened.',
};
const Mode = stringEnum([...MODES], modeIs);
const refusalIs = {
  description:
    'The status by which new runs are refused. 429 comes with `Retry-After`: the seconds until the next period.',
};
const RefusalStatus = Type.Union([Type.Literal(402), Type.Literal(429)], refusalIs);
const tokensMax = 'Tokens of models, input and output, in a period.';
const runsMax = 'Runs that are created in a period.';
/** Sums of them are numbers that JSON and a database have. */
const Cap = { minimum: 1, maximum: 1_000_000_000_000 };

export const BudgetCreate = Type.Object(
  {
    name: Name,
    subject: Subject,
    subject_id: OptionalNullable(SubjectId),
    period: Period,
    tokens_max: OptionalNullable(Type.Integer({ ...Cap, description: tokensMax })),
    runs_max: OptionalNullable(Type.Integer({ ...Cap, description: runsMax })),
    mode: stringEnum([...MODES], { ...modeIs, default: 'enforced' }),
    refusal_status: Type.Union([...RefusalStatus.anyOf], { ...refusalIs, default: 429 }),
  },
  { $id: 'BudgetCreate' },
);
export type BudgetCreate = Static<typeof BudgetCreate>;

/** A missing field changes nothing. What a period has counted so far stays counted. */
export const BudgetPatch = Type.Object(
  {
    name: Type.Optional(Name),
    tokens_max: OptionalNullable(Type.Integer({ ...Cap, description: `${tokensMax} Null: any number.` })),
    runs_max: OptionalNullable(Type.Integer({ ...Cap, description: `${runsMax} Null: any number.` })),
    mode: Type.Optional(Mode),
    refusal_status: Type.Optional(RefusalStatus),
  },
  { $id: 'BudgetPatch' },
);
export type BudgetPatch = Static<typeof BudgetPatch>;

/** A budget as its deployment gets it: whose use is counted, and how much of it there may be. */
export const BudgetTerms = Type.Object(
  {
    id: Uuid,
    name: Type.String(),
    subject: Subject,
    subject_id: Nullable(Type.String()),
    period: Period,
    tokens_max: Nullable(Type.Integer()),
    runs_max: Nullable(Type.Integer()),
    mode: Mode,
    refusal_status: RefusalStatus,
  },
  { $id: 'BudgetTerms' },
);
export type BudgetTerms = Static<typeof BudgetTerms>;

export const Budget = Type.Object(
  {
    ...BudgetTerms.properties,
    /** Null: it is of the workspace, for all its deployments. */
    deployment_id: Nullable(Uuid),
    created_by: Uuid,
    created_at: Timestamp,
    updated_at: Timestamp,
    /** True when each deployment that it is for has all its budgets as they are now. */
    is_reached: Type.Boolean(),
    /** Why one of them has not; null: nothing was heard yet, or it has. */
    message: Nullable(Type.String()),
  },
  { $id: 'Budget' },
);
export type Budget = Static<typeof Budget>;

const exampleCreate: BudgetCreate = {
  name: 'Tokens of an end user',
  subject: 'creator',
  period: 'day',
  tokens_max: 100_000,
  mode: 'enforced',
  refusal_status: 429,
};
const example: Budget = {
  ...exampleCreate,
  id: '0192f7a0-0000-7000-8000-000000000051',
  deployment_id: '0192f7a0-0000-7000-8000-000000000001',
  subject_id: null,
  tokens_max: 100_000,
  runs_max: null,
  created_by: '33333333-0000-4000-8000-000000000001',
  created_at: '2026-12-01T10:00:00.000Z',
  updated_at: '2026-12-01T10:00:00.000Z',
  is_reached: true,
  message: null,
};

const BudgetParams = Type.Object({ ...DeploymentParams.properties, budget_id: Uuid });
const shared = { tags: ['budgets (v2)'] as string[], access: 'principal' } as const;
const ofDeployment = '/v2/deployments/{deployment_id}/budgets';
const ofWorkspace = '/v2/workspaces/current/budgets';
const mayRead = 'deployments:read' satisfies Permission;
const mayChange = 'deployments:update' satisfies Permission;
const failures = {
  401: UnauthorizedResponse,
  403: ForbiddenResponse,
  404: NotFoundResponse,
  422: InvalidResponse,
};
const refusals = { 400: BadRequestResponse, ...failures };
const CHANGED = 'Answered as soon as each deployment has it, and after 3 seconds at most: `is_reached` says which.';

const list = {
  description: `At most ${BUDGETS_MAX}.`,
  schema: Type.Object({ budgets: Type.Array(Budget) }, { $id: 'BudgetList' }),
  example: { budgets: [example] },
};

export const listBudgets = defineOperation({
  ...shared,
  operationId: 'listBudgets',
  method: 'get',
  path: ofDeployment,
  summary: 'The budgets of a deployment, the oldest first; those of its workspace come beside them.',
  permission: mayRead,
  params: DeploymentParams,
  responses: { 200: list, ...failures },
});

export const createBudget = defineCreation('budgets', {
  ...shared,
  operationId: 'createBudget',
  method: 'post',
  path: ofDeployment,
  summary: 'Cap tokens, runs or both of a deployment, or of each who uses it, by hour, day or month.',
  permission: mayChange,
  params: DeploymentParams,
  body: BudgetCreate,
  responses: { 201: { description: CHANGED, schema: Budget, example }, ...refusals },
  examples: { body: exampleCreate },
});

export const patchBudget = defineOperation({
  ...shared,
  operationId: 'patchBudget',
  method: 'patch',
  path: `${ofDeployment}/{budget_id}`,
  summary: 'Raise or lower a budget, rename it, enforce it or not.',
  permission: mayChange,
  params: BudgetParams,
  body: BudgetPatch,
  responses: { 200: { description: CHANGED, schema: Budget, example }, ...refusals },
  examples: { body: { tokens_max: 200_000 } },
});

export const deleteBudget = defineOperation({
  ...shared,
  operationId: 'deleteBudget',
  method: 'delete',
  path: `${ofDeployment}/{budget_id}`,
  summary: 'Remove a budget, with what it has counted.',
  permission: mayChange,
  params: BudgetParams,
  responses: { 204: { description: 'It is gone; the deployment has that within 3 seconds.' }, ...failures },
});

const exampleOfWorkspace: BudgetCreate = {
  name: 'Tokens of the team',
  subject: 'workspace',
  period: 'month',
  tokens_max: 50_000_000,
  mode: 'enforced',
  refusal_status: 402,
};
const madeOfWorkspace: Budget = { ...example, ...exampleOfWorkspace, deployment_id: null, tokens_max: 50_000_000 };
const OfWorkspaceParams = Type.Object({ workspace_budget_id: Uuid });

export const listWorkspaceBudgets = defineOperation({
  ...shared,
  operationId: 'listWorkspaceBudgets',
  method: 'get',
  path: ofWorkspace,
  summary: 'The budgets of the workspace, the oldest first.',
  permission: mayRead,
  responses: { 200: { ...list, example: { budgets: [madeOfWorkspace] } }, ...failures },
});

export const createWorkspaceBudget = defineCreation('budgets', {
  ...shared,
  operationId: 'createWorkspaceBudget',
  method: 'post',
  path: ofWorkspace,
  summary: 'Cap what all deployments of the workspace use together, or what each person or key uses in all of them.',
  permission: mayChange,
  body: BudgetCreate,
  responses: { 201: { description: CHANGED, schema: Budget, example: madeOfWorkspace }, ...refusals },
  examples: { body: exampleOfWorkspace },
});

export const patchWorkspaceBudget = defineOperation({
  ...shared,
  operationId: 'patchWorkspaceBudget',
  method: 'patch',
  path: `${ofWorkspace}/{workspace_budget_id}`,
  summary: 'Raise or lower a budget of the workspace, rename it, enforce it or not.',
  permission: mayChange,
  params: OfWorkspaceParams,
  body: BudgetPatch,
  responses: { 200: { description: CHANGED, schema: Budget, example: madeOfWorkspace }, ...refusals },
  examples: { body: { tokens_max: 60_000_000 } },
});

export const deleteWorkspaceBudget = defineOperation({
  ...shared,
  operationId: 'deleteWorkspaceBudget',
  method: 'delete',
  path: `${ofWorkspace}/{workspace_budget_id}`,
  summary: 'Remove a budget of the workspace, with what it has counted.',
  permission: mayChange,
  params: OfWorkspaceParams,
  responses: { 204: { description: 'It is gone; the deployments have that within 3 seconds.' }, ...failures },
});

export const budgetOperations: readonly Operation[] = [
  listBudgets,
  createBudget,
  patchBudget,
  deleteBudget,
  listWorkspaceBudgets,
  createWorkspaceBudget,
  patchWorkspaceBudget,
  deleteWorkspaceBudget,
];
