import path from 'node:path';
import { runProgram } from '@runyard/test-kit/python';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { newClient } from '../harness/client.ts';
import { callControlPlane, createDeployment, type Deployment, waitUntilDeployed } from '../harness/control-plane.ts';
import { type KeyProxy, startKeyProxy } from '../harness/key-proxy.ts';

const { apiKey } = inject('platform');
const PROJECT = path.resolve(import.meta.dirname, '../projects/mcp');
const SUITE = path.resolve(import.meta.dirname, '../node_modules/@modelcontextprotocol/conformance/dist/index.js');
const BASELINE = path.join(import.meta.dirname, 'mcp-expected-failures.yml');

/** The tools that the suite wants to be tasks always, and their graphs. */
const TASKS = {
  failing_job: 'job',
  protocol_error_job: 'job',
  test_tool_with_task: 'test_input_required_result_elicitation',
};

let deployment: Deployment;
let proxy: KeyProxy;
beforeAll(async () => {
  deployment = await createDeployment('mcp conformance', PROJECT);
  await waitUntilDeployed(deployment);
  const url = deployment.source_config.custom_url;
  const { assistants } = newClient({ apiUrl: url });
  for (const [name, graphId] of Object.entries(TASKS)) {
    await assistants.create({ graphId, name, metadata: { mcp: { task_support: 'required' } } });
  }
  // The suite has no option for headers, and sends no key.
  proxy = await startKeyProxy(url, apiKey);
});
afterAll(async () => {
  await proxy?.close();
  if (deployment) await callControlPlane('DELETE', `/deployments/${deployment.id}`);
});

it.each([
  ['of 2025-11-25', ['--suite', 'all', '--spec-version', '2025-11-25']],
  ['of 2026-07-28', ['--suite', 'all', '--spec-version', '2026-07-28']],
  ['of the extensions', ['--suite', 'pending']],
])(
  'the scenarios %s of the public conformance suite pass, but for those in mcp-expected-failures.yml',
  async (_name, chosen) => {
    const node = ['--import', path.join(import.meta.dirname, 'suite-on-node-20.mjs'), SUITE];
    const args = ['server', '--url', `${proxy.url}/mcp`, ...chosen, '--expected-failures', BASELINE];
    const { code, output } = await runProgram(process.execPath, [...node, ...args]);
    expect(code, output).toBe(0);
  },
);
