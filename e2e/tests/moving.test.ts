import { inject, it, onTestFinished } from 'vitest';
import { moveThereAndBack } from '../moving/move-there-and-back.ts';
import { JAVASCRIPT_GRAPHS, startJavaScriptServers } from '../moving/public-servers.ts';

it('what is on a public server is the same on the platform, after a killed import, and after an export', async () => {
  const { from, backTo, stop } = await startJavaScriptServers();
  onTestFinished(stop);
  const { deploymentUrl: url, apiKey } = inject('platform');
  await moveThereAndBack({ graphs: JAVASCRIPT_GRAPHS, threads: 100, from, backTo, deployment: { url, apiKey } });
});
