import { fileURLToPath } from 'node:url';
import { javaScriptHost } from '@runyard/host-client';
import { checkCase, hostCases } from '@runyard/host-protocol/suite';
import { describe, it } from 'vitest';

const project = fileURLToPath(new URL('../fixtures/suite', import.meta.url));

describe('the host of JavaScript projects', () => {
  it.each(hostCases.map((hostCase) => [hostCase.name, hostCase] as const))('%s', async (_name, hostCase) => {
    const { command, args } = javaScriptHost();
    await checkCase(hostCase, { command: [command, ...args], project });
  });
});
