import { expect, it } from 'vitest';
import { machineEnvironment } from './machine-environment.ts';

it('machine variables reach the network and name nothing of the platform', () => {
  const own = {
    PATH: '/bin',
    HTTPS_PROXY: 'http://proxy.example.com',
    DATABASE_URI: 'postgres://x',
    NODE_OPTIONS: '--inspect',
  };
  expect(machineEnvironment(own)).toEqual({ PATH: '/bin', HTTPS_PROXY: 'http://proxy.example.com' });
});
