import { waitFor } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { startDeployment } from './deployment.ts';

it('what store.ttl says holds for items that say nothing, and expired ones are deleted', async () => {
  const settings = { ttl: { default_ttl: 10, refresh_on_read: false, sweep_interval_minutes: 0.001 } };
  const deployment = await startDeployment({ env: { LANGGRAPH_STORE: JSON.stringify(settings) } });
  try {
    const { store } = deployment.client;
    const keys = async () => (await deployment.pool.query('SELECT key FROM store_item ORDER BY key')).rows;
    await store.putItem(['a'], 'default', { n: 1 });
    await store.putItem(['a'], 'own', { n: 1 }, { ttl: 30 });
    await store.getItem(['a'], 'default');
    await deployment.pool.query(`UPDATE store_item SET expires_at = expires_at - interval '10 minutes'`);
    expect(await store.getItem(['a'], 'default')).toBeNull();
    await waitFor(async () => (await keys()).length === 1);
    expect(await keys()).toEqual([{ key: 'own' }]);
  } finally {
    await deployment.close();
  }
});
