import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { DeploymentTokens } from './deployment-tokens.ts';

const id = randomUUID();
const key = () => randomBytes(32).toString('base64');

it('the token of a deployment names it, also after a newer key was added, and no other text does', () => {
  const [older, newer] = [key(), key()];
  const token = new DeploymentTokens(older).variableOf(id).value;
  const rotated = new DeploymentTokens(`${newer},${older}`);
  expect(rotated.deploymentOf(token)).toBe(id);
  expect(rotated.variableOf(id).value).not.toBe(token);
  expect(new DeploymentTokens(newer).deploymentOf(token)).toBeNull();
  for (const forged of [token.replace(id, randomUUID()), token.slice(0, -1), `${token}A`, `rdt_${id}_`, '', 'rdt_'])
    expect(rotated.deploymentOf(forged)).toBeNull();
});
