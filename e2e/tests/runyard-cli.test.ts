import { expect, it, onTestFinished } from 'vitest';
import { copyProject } from '../harness/official-cli.ts';
import { runyard, startRunyard } from '../harness/runyard-cli.ts';

it('an interrupted deploy ends at once with 130, and leaves the revision to the platform', async () => {
  const { folder, remove } = await copyProject('deployed');
  onTestFinished(remove);
  const args = ['--remote', '--json', '--name', 'interrupted', '--install-command', 'sleep 20'];
  const deploying = startRunyard(['deploy', ...args], folder);
  await expect.poll(deploying.output, { timeout: 30_000 }).toContain('"status":"BUILDING"');
  deploying.child.kill('SIGINT');
  const { code, output } = await deploying.ended;
  expect(code).toBe(130);
  expect(output).toContain('The platform goes on without this command.');
  const [deployment] = (await runyard(['deploy', 'list', '--name-contains', 'interrupted', '--json'])).output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  await runyard(['deploy', 'delete', deployment.id, '--no-input']);
});
