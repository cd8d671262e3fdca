import { randomUUID } from 'node:crypto';
import { AgentStates, conforms, DeploymentOfToken } from '@runyard/contracts';
import { DeploymentTokens } from '@runyard/deployments';
import { ORGANIZATION, OTHER_WORKSPACE, WORKSPACE } from '@runyard/test-kit/callers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INTERNAL_TOKEN } from './support/credentials.ts';
import { TestPlatform } from './support/platform.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await TestPlatform.start();
});
afterAll(() => platform.close());

const tenant = { organization_id: ORGANIZATION, workspace_id: WORKSPACE };

/** Creates a deployment, which runs nothing until an image is pushed, and returns its id and the token of its code. */
async function deploy(agentId?: string, environment = 'production'): Promise<{ id: string; token: string }> {
  const { status, body } = await platform.create({
    source: 'internal_docker',
    source_config: {},
    source_revision_config: {},
    ...(agentId !== undefined && { agent: { agent_id: agentId, environment } }),
  });
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return { id: body.id, token: new DeploymentTokens(platform.encryptionKey).variableOf(body.id).value };
}
const remove = (id: string) => platform.call('DELETE', `/v2/deployments/${id}`);

/** Asks as oauth-broker does. */
async function ask(path: string, body: unknown): Promise<unknown> {
  const headers = { authorization: `Bearer ${INTERNAL_TOKEN}`, 'content-type': 'application/json' };
  const answer = await platform.call('POST', path, { headers, body });
  if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}
async function findByToken(token: string, changes: object = {}): Promise<DeploymentOfToken['deployment']> {
  const answer = await ask('/internal/deployments/find-by-token', { ...tenant, token, ...changes });
  if (!conforms(DeploymentOfToken, answer)) throw new Error(JSON.stringify(answer));
  return answer.deployment;
}
const namesOf = async (token: string, agent_id?: string) =>
  (await findByToken(token, { agent_id }))!.agents.map((agent) => agent.agent_id);
async function describeAgents(...names: string[]): Promise<AgentStates['agents']> {
  const answer = await ask('/internal/agents', { agents: names.map((agent_id) => ({ ...tenant, agent_id })) });
  if (!conforms(AgentStates, answer)) throw new Error(JSON.stringify(answer));
  return answer.agents;
}

describe('the token of a deployment', () => {
  it('stands for an existing deployment of the named workspace alone', async () => {
    const [{ id, token }, other] = [await deploy(), await deploy()];
    expect(await findByToken(token)).toEqual({ deployment_id: id, agents: [{ agent_id: id, generation: 0 }] });
    const refused = [
      await findByToken(token, { workspace_id: OTHER_WORKSPACE }),
      await findByToken(token, { organization_id: randomUUID() }),
      await findByToken(token.replace(id, other.id)),
      await findByToken('rdt_'),
    ];
    await remove(id);
    refused.push(await findByToken(token));
    expect(refused).toEqual([null, null, null, null, null]);
  });

  it('stands for the id of its deployment, for the name it was made for, and for names that are nobody’s', async () => {
    const [production, staging] = [await deploy('billing'), await deploy('billing', 'staging')];
    const unnamed = await deploy();
    for (const { id, token } of [production, staging]) expect(await namesOf(token, 'billing')).toEqual([id, 'billing']);
    expect(await namesOf(unnamed.token, 'billing')).toEqual([unnamed.id]);
    expect(await namesOf(unnamed.token, 'an-assistant')).toEqual([unnamed.id, 'an-assistant']);
    await remove(staging.id);
    for (const name of [production.id, production.id.toUpperCase(), staging.id])
      expect(await namesOf(unnamed.token, name)).toEqual([unnamed.id]);
    expect(await namesOf(unnamed.token, 'not \u0000 storable')).toEqual([unnamed.id, 'not \ufffd storable']);
  });
});

describe('a name of an agent', () => {
  it('is another agent’s from the deletion of its last deployment on, of which nobody has to be told', async () => {
    const [first, last] = [await deploy('payroll'), await deploy('payroll', 'staging')];
    expect(await describeAgents('payroll', first.id, 'unknown')).toEqual([
      { is_deleted: false, generation: 0 },
      { is_deleted: false, generation: 0 },
      { is_deleted: false, generation: 0 },
    ]);
    await remove(first.id);
    expect(await describeAgents(first.id.toUpperCase(), 'payroll')).toEqual([
      { is_deleted: true, generation: 0 },
      { is_deleted: false, generation: 0 },
    ]);
    await remove(last.id);
    await remove(last.id);
    expect(await describeAgents('payroll')).toEqual([{ is_deleted: false, generation: 1 }]);
    const { token } = await deploy('payroll');
    expect((await findByToken(token, { agent_id: 'payroll' }))!.agents).toContainEqual({
      agent_id: 'payroll',
      generation: 1,
    });
    const elsewhere = { agents: [{ ...tenant, workspace_id: OTHER_WORKSPACE, agent_id: 'payroll' }] };
    expect(await ask('/internal/agents', elsewhere)).toEqual({ agents: [{ is_deleted: false, generation: 0 }] });
  });

  it('ends once when its deployments are deleted at the same moment', async () => {
    const both = await Promise.all([deploy('twice'), deploy('twice', 'staging')]);
    await Promise.all(both.map(({ id }) => remove(id)));
    expect(await describeAgents('twice')).toEqual([{ is_deleted: false, generation: 1 }]);
  });
});

it('nobody but a service of the platform gets an answer', async () => {
  for (const path of ['/internal/deployments/find-by-token', '/internal/agents', '/internal/oauth/former-rows']) {
    expect((await platform.call('POST', path, { body: {} })).status).toBe(401);
  }
});
