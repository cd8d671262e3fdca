import { waitFor } from '@runyard/test-kit';
import { expect, it } from 'vitest';
import { startDeployment } from './deployment.ts';

it('store.ttl applies to items without a ttl, expired ones are deleted, and a ttl of -1 keeps one for ever', async () => {
  const settings = { ttl: { default_ttl: 10, refresh_on_read: false, sweep_interval_minutes: 0.001 } };
  const deployment = await startDeployment({ env: { LANGGRAPH_STORE: JSON.stringify(settings) } });
  try {
    const { store } = deployment.client;
    const keys = async () => (await deployment.pool.query('SELECT key FROM store_item ORDER BY key')).rows;
    await store.putItem(['a'], 'default', { n: 1 });
    await store.putItem(['a'], 'own', { n: 1 }, { ttl: 30 });
    await store.putItem(['a'], 'kept for ever', { n: 1 }, { ttl: -1 });
    await store.getItem(['a'], 'default');
    await deployment.pool.query(`UPDATE store_item SET expires_at = expires_at - interval '10 minutes'`);
    expect(await store.getItem(['a'], 'default')).toBeNull();
    await waitFor(async () => (await keys()).length === 2);
    expect(await keys()).toEqual([{ key: 'kept for ever' }, { key: 'own' }]);
    await deployment.pool.query(`UPDATE store_item SET expires_at = expires_at - interval '1 year'`);
    expect(await store.getItem(['a'], 'kept for ever')).toMatchObject({ value: { n: 1 } });
  } finally {
    await deployment.close();
  }
});
