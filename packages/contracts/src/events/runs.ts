import Type from 'typebox';
import { cloudEvent } from './envelope.ts';

const run = {
  deployment_id: Type.String(),
  run_id: Type.String({ format: 'uuid' }),
  thread_id: Type.String({ format: 'uuid' }),
  assistant_id: Type.String({ format: 'uuid' }),
};

export const RunCreated = cloudEvent('runyard.run.created', Type.Object(run));
export const RunStarted = cloudEvent('runyard.run.started', Type.Object({ ...run, attempt: Type.Integer() }));
/** A run reached a terminal status. */
export const RunFinished = cloudEvent(
  'runyard.run.finished',
  Type.Object({ ...run, attempt: Type.Integer(), status: Type.String() }),
);
