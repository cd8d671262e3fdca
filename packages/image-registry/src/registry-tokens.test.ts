import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { RegistryTokens } from './registry-tokens.ts';

const tokens = new RegistryTokens('the platform speaks to itself alone');
const grant = { deploymentId: randomUUID(), name: 'agent', mayPush: false };

describe('a token of the registry', () => {
  it('says what it was issued for, until it expires', () => {
    expect(tokens.open(tokens.issue(grant, 60_000))).toMatchObject(grant);
    expect(tokens.open(tokens.issue({ ...grant, name: undefined }, 60_000))).toMatchObject({ name: undefined });
    expect(tokens.open(tokens.issue(grant, 0))).toBeNull();
  });

  it('of another platform is none', () => {
    expect(new RegistryTokens('another platform of its own').open(tokens.issue(grant, 60_000))).toBeNull();
  });

  it('whose text or signature was changed is none', () => {
    const [text, signature] = tokens.issue(grant, 60_000).slice('rgt_'.length).split('.') as [string, string];
    const content = JSON.parse(Buffer.from(text, 'base64url').toString());
    const changed = Buffer.from(JSON.stringify({ ...content, push: true })).toString('base64url');
    const other = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`;
    for (const token of [`rgt_${changed}.${signature}`, `rgt_${text}.${other}`, `rgt_${text}.`, `rgt_${text}`, '']) {
      expect(tokens.open(token), token).toBeNull();
    }
  });
});
