import Type, { type Static } from 'typebox';
import { defineOperation, type Operation } from '../../operation.ts';
import { Uuid } from '../common.ts';
import { BudgetTerms } from './budgets.ts';
import { InvalidResponse } from './responses.ts';

/** Entries of one report. */
export const EXHAUSTED_MAX = 1_000;

const exampleTerms: BudgetTerms = {
  id: '0192f7a0-0000-7000-8000-000000000051',
  name: 'Tokens of the team',
  subject: 'workspace',
  subject_id: null,
  period: 'month',
  tokens_max: 50_000_000,
  runs_max: null,
  mode: 'enforced',
  refusal_status: 402,
};

/** A budget of a workspace, for what several deployments use together. */
export const SummedBudget = Type.Object(
  { ...BudgetTerms.properties, organization_id: Uuid, workspace_id: Uuid },
  { $id: 'SummedBudget' },
);
export type SummedBudget = Static<typeof SummedBudget>;

/** Somebody who has used up such a budget, in all deployments together. */
export const ExhaustedSum = Type.Object(
  {
    budget_id: Uuid,
    /** The creator or the key; empty for the workspace. */
    subject_id: Type.String({ maxLength: 255 }),
    /** The start of the period. */
    start: Type.String({ format: 'date-time' }),
    measure: Type.Union([Type.Literal('tokens'), Type.Literal('runs')]),
    /** The cap that was reached: what is said of a cap of before is ignored. */
    max: Type.Integer({ minimum: 1 }),
  },
  { $id: 'ExhaustedSum' },
);
export type ExhaustedSum = Static<typeof ExhaustedSum>;

export const SummedBudgets = Type.Object({ budgets: Type.Array(SummedBudget) }, { $id: 'SummedBudgets' });

export const ExhaustedSumsTaken = Type.Object(
  {
    /** Entries that were not known before. */
    taken: Type.Integer({ minimum: 0 }),
  },
  { $id: 'ExhaustedSumsTaken' },
);

export const listSummedBudgets = defineOperation({
  operationId: 'listSummedBudgets',
  method: 'get',
  path: '/internal/budgets',
  summary: 'The budgets of all workspaces for what several deployments use together; changes follow on the event bus.',
  tags: ['internal'],
  access: 'internal',
  responses: {
    200: {
      description: 'All of them.',
      schema: SummedBudgets,
      example: {
        budgets: [
          {
            ...exampleTerms,
            organization_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0a001',
            workspace_id: '6f1c1f9e-3f0a-4f0e-9a51-0a53d0a0b001',
          },
        ],
      },
    },
  },
});

export const reportExhaustedSums = defineOperation({
  operationId: 'reportExhaustedSums',
  method: 'post',
  path: '/internal/budgets/exhausted',
  summary: 'Which of them are used up, by whom. The same may be said again.',
  tags: ['internal'],
  access: 'internal',
  body: Type.Object(
    { exhausted: Type.Array(ExhaustedSum, { maxItems: EXHAUSTED_MAX }) },
    { $id: 'ExhaustedSumsReport' },
  ),
  responses: {
    200: { description: 'The deployments learn of it.', schema: ExhaustedSumsTaken, example: { taken: 1 } },
    422: InvalidResponse,
  },
  examples: {
    body: {
      exhausted: [
        {
          budget_id: exampleTerms.id,
          subject_id: '',
          start: '2026-12-01T00:00:00.000Z',
          measure: 'tokens',
          max: 50_000_000,
        },
      ],
    },
  },
});

export const budgetSumOperations: readonly Operation[] = [listSummedBudgets, reportExhaustedSums];
