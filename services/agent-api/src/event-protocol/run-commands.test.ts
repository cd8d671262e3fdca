import { ForbiddenError } from '@runyard/service-kit';
import { expect, it, vi } from 'vitest';
import type { CommandContext } from './command-context.ts';
import { RunCommands } from './run-commands.ts';

const create = vi.fn(async () => ({ record: { runId: 'r' } }));
const commands = new RunCommands({
  runs: { create },
  threads: { find: async () => undefined },
} as unknown as ConstructorParameters<typeof RunCommands>[0]);

it('run.start that ends or deletes other runs of the thread requires the permission to', async () => {
  const start = (multitaskStrategy: string, ...permissions: string[]) => {
    const caller = { workspaceId: 'w', permissions: ['runs:create', ...permissions] };
    const context = { threadId: 't', caller, origin: {}, scope: {} } as unknown as CommandContext;
    return commands.start(context, { assistant_id: 'a', input: {}, multitaskStrategy });
  };
  await expect(start('interrupt')).rejects.toThrow(ForbiddenError);
  await expect(start('rollback', 'runs:update')).rejects.toThrow(ForbiddenError);
  expect(create).not.toHaveBeenCalled();
  await start('enqueue');
  await start('interrupt', 'runs:update');
  await start('rollback', 'runs:delete');
  expect(create).toHaveBeenCalledTimes(3);
});
