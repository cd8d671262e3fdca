import { packagesOf } from '@runyard/test-kit/python';
import { it, onTestFinished } from 'vitest';
import { startPlatform } from '../harness/platform.ts';
import { moveThereAndBack } from './move-there-and-back.ts';
import {
  JAVASCRIPT_GRAPHS,
  PYTHON_GRAPHS,
  PYTHON_PROJECT,
  startJavaScriptServers,
  startPythonServers,
} from './public-servers.ts';

const threads = Number(process.env.RUNYARD_TEST_MOVED_THREADS ?? 10_000);

it(`${threads} threads move from the public server of JavaScript, and back`, async () => {
  const { from, backTo, stop } = await startJavaScriptServers();
  onTestFinished(stop);
  const deployment = await startDeployment({});
  await moveThereAndBack({ graphs: JAVASCRIPT_GRAPHS, threads, from, backTo, deployment });
});

it(`${threads} threads move from the public server of Python, and back`, async () => {
  const { from, backTo, python, stop } = await startPythonServers();
  onTestFinished(stop);
  const deployment = await startDeployment({ project: PYTHON_PROJECT, env: packagesOf(python) });
  await moveThereAndBack({ graphs: PYTHON_GRAPHS, threads, from, backTo, deployment });
});

async function startDeployment(options: Parameters<typeof startPlatform>[0]): Promise<{ url: string; apiKey: string }> {
  const platform = await startPlatform(options);
  onTestFinished(async () => {
    await platform.stop();
    await platform.remove();
  });
  return { url: platform.deploymentUrl, apiKey: platform.apiKey };
}
