import { getDeployment, type Operation } from '@runyard/contracts';
import { bind, ok } from '@runyard/service-kit';
import { expect, it } from 'vitest';
import { requirePermissions } from './require-permissions.ts';

const start = (operation: Operation) =>
  requirePermissions({ require: async (caller) => caller })(bind(operation, async () => ok({}) as never));

it('an operation on a deployment whose permission is of another family fails the start', () => {
  expect(() => start(getDeployment)).not.toThrow();
  expect(() => start({ ...getDeployment, permission: 'runs:read' } as unknown as Operation)).toThrow(
    'getDeployment names deployments, and runs:read is no permission on deployments',
  );
});
