import { expect, it } from 'vitest';
import { reportReady } from './report-ready.ts';
import { createContext } from './service.ts';

it('a process counts that it serves, and that it was asked to stop', async () => {
  const context = createContext('test', { LOG_LEVEL: 'silent', processMetrics: false });
  reportReady(context);
  expect(context.lifecycle.isReady).toBe(true);
  expect(await context.metrics.text()).toMatch(/^lg_api_server_started_counter 1$/m);
  expect(await context.metrics.text()).toMatch(/^lg_api_server_requested_to_stop_counter 0$/m);
  await context.lifecycle.stop('asked');
  expect(await context.metrics.text()).toMatch(/^lg_api_server_requested_to_stop_counter 1$/m);
});
