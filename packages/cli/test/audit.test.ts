import { CHAIN_START, CHECKPOINT_TYPE, hashEvent } from '@runyard/audit-chain';
import { type AuditEvent, exampleAuditEvent } from '@runyard/contracts';
import { CompactSign, exportJWK, generateKeyPair } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { folderWith, removeFolders, runyard } from './support/command.ts';

afterAll(removeFolders);

function makeChain(length: number): AuditEvent[] {
  let hash = CHAIN_START;
  return Array.from({ length }, (_, index) => {
    const event = { ...exampleAuditEvent, sequence: index + 1, previous_hash: hash };
    hash = hashEvent(event);
    return { ...event, hash };
  });
}

async function signPosition({ organization_id, sequence, hash }: AuditEvent): Promise<string> {
  const { publicKey, privateKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const checkpoint = await new CompactSign(Buffer.from(JSON.stringify({ organization_id, sequence, hash })))
    .setProtectedHeader({ alg: 'EdDSA', typ: CHECKPOINT_TYPE })
    .sign(privateKey);
  return JSON.stringify({ checkpoint, keys: [await exportJWK(publicKey)] });
}

async function verify(events: readonly unknown[], checkpoint?: string) {
  const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('');
  const folder = folderWith('audit', { 'audit.jsonl': lines, 'kept.json': checkpoint ?? '' });
  const flags = checkpoint === undefined ? [] : ['--checkpoint', 'kept.json'];
  return runyard(['audit', 'verify', 'audit.jsonl', ...flags], { cwd: folder });
}

describe('runyard audit verify', () => {
  const chain = makeChain(4);

  it('says that an exported trail is whole, from its first event or a later one', async () => {
    expect(await verify(chain)).toMatchObject({ exitCode: 0, out: expect.stringContaining('from event 1 to 4') });
    expect(await verify(chain.slice(2))).toMatchObject({ exitCode: 0 });
  });

  it('names the event at which it is broken', async () => {
    const changed = await verify(chain.with(1, { ...chain[1]!, address: '192.0.2.99' }));
    expect(changed).toMatchObject({ exitCode: 1, err: expect.stringContaining('broken at event 2') });
    expect(await verify(chain.toSpliced(2, 1))).toMatchObject({ exitCode: 1, err: expect.stringContaining('event 3') });
  });

  it('shows a missing end when it has a signed position', async () => {
    const kept = await signPosition(chain[3]!);
    expect(await verify(chain, kept)).toMatchObject({ exitCode: 0 });
    expect(await verify(chain.slice(0, 3), kept)).toMatchObject({ exitCode: 1 });
    expect(await verify(chain, '{"checkpoint": "none", "keys": []}')).toMatchObject({ exitCode: 1 });
  });

  it('says when a signed position is before the file, and compares the one that it goes on after', async () => {
    const early = await signPosition(chain[0]!);
    expect(await verify(chain.slice(1), early)).toMatchObject({ exitCode: 0 });
    expect(await verify(chain.slice(2), early)).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('begins at event 3, and the checkpoint is of event 1'),
    });
    const other = await signPosition({ ...chain[0]!, hash: CHAIN_START });
    expect(await verify(chain.slice(1), other)).toMatchObject({ exitCode: 1, err: expect.stringContaining('event 2') });
  });

  it('refuses a file that holds no events', async () => {
    expect(await verify([])).toMatchObject({ exitCode: 2 });
    expect(await verify([{ sequence: 1 }])).toMatchObject({ exitCode: 2 });
    expect(await verify(chain, 'no json')).toMatchObject({ exitCode: 2 });
  });
});
