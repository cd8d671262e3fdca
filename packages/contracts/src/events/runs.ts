import Type from 'typebox';
import { cloudEvent } from './envelope.ts';

const run = {
  deployment_id: Type.String(),
  run_id: Type.String({ format: 'uuid' }),
  thread_id: Type.String({ format: 'uuid' }),
  assistant_id: Type.String({ format: 'uuid' }),
};

const example = {
  deployment_id: 'd2a5b6c1-6f0e-4d57-8f53-0c8f0e7a1b03',
  run_id: '0199f0a4-3b5e-7c61-9d2f-5a7e8f9b0c04',
  thread_id: '0199f0a4-3b50-7a11-8c3e-4b6d7e8f9a05',
  assistant_id: '046b5dc7-2108-582c-9c6c-31d556d138f0',
};
const subject = example.thread_id;

export const RunCreated = cloudEvent('runyard.run.created', Type.Object(run), { subject, data: example });
export const RunStarted = cloudEvent('runyard.run.started', Type.Object({ ...run, attempt: Type.Integer() }), {
  subject,
  data: { ...example, attempt: 1 },
});
/**
 * Says that an attempt ended without ending the run. The run waits for another claim, and goes on from its last
 * checkpoint.
 */
export const RunRetried = cloudEvent(
  'runyard.run.retried',
  Type.Object({
    ...run,
    attempt: Type.Integer({ description: 'The attempt that ended.' }),
    reason: Type.String({
      description:
        '`worker_lost`: its worker was not heard of any more. `failed`: the attempt failed in a way that another one may not. `handed_over`: its worker stopped in good order.',
    }),
  }),
  { subject, data: { ...example, attempt: 1, reason: 'worker_lost' } },
);
/**
 * Says that somebody cancelled a run, or changed its cancel order from `interrupt` to `rollback`. The event of its end
 * follows.
 */
export const RunCancelled = cloudEvent(
  'runyard.run.cancelled',
  Type.Object({
    ...run,
    attempt: Type.Integer({ description: '0 when it had not begun.' }),
    action: Type.String({ description: '`interrupt` or `rollback`.' }),
  }),
  { subject, data: { ...example, attempt: 1, action: 'interrupt' } },
);
/** Says that a run reached a terminal status. */
export const RunFinished = cloudEvent(
  'runyard.run.finished',
  Type.Object({ ...run, attempt: Type.Integer(), status: Type.String() }),
  { subject, data: { ...example, attempt: 1, status: 'success' } },
);
