import Type from 'typebox';
import { cloudEvent } from './envelope.ts';

const workspace_id = '3c2b1a09-8f7e-4d6c-9b5a-4f3e2d1c0b06';

/** Says that budgets of a workspace have changed. It is a hint for who sums up what deployments use: control-plane has them. */
export const BudgetsChanged = cloudEvent(
  'runyard.budgets.changed',
  Type.Object({
    organization_id: Type.String({ format: 'uuid' }),
    workspace_id: Type.String({ format: 'uuid' }),
  }),
  { subject: workspace_id, data: { organization_id: '7d7c1a52-9d3f-4f0a-8a52-6a2f3f0f9b01', workspace_id } },
);
