import { type AuditEvent, exampleAuditEvent } from '@runyard/contracts';
import { CompactSign, exportJWK, generateKeyPair } from 'jose';
import { expect, it } from 'vitest';
import { CHAIN_START, type ChainPosition, ChainVerifier, hashEvent } from './chain.ts';
import { CHECKPOINT_TYPE, readCheckpoint } from './checkpoint.ts';

function makeChain(length: number): AuditEvent[] {
  let hash = CHAIN_START;
  return Array.from({ length }, (_, index) => {
    const event = { ...exampleAuditEvent, sequence: index + 1, previous_hash: hash };
    hash = hashEvent(event);
    return { ...event, hash };
  });
}

function findFault(events: readonly AuditEvent[], signed: ChainPosition[] = []) {
  const verifier = new ChainVerifier({ after: { sequence: 0, hash: CHAIN_START }, signed });
  for (const event of events) {
    const fault = verifier.check(event);
    if (fault) return fault;
  }
  return verifier.end();
}

it('a chain is whole until an event is removed, changed, exchanged, inserted or rehashed', () => {
  const chain = makeChain(5);
  const rehashed = { ...chain[2]!, action: 'other' };
  rehashed.hash = hashEvent(rehashed);
  expect(findFault(chain)).toBeUndefined();
  expect(findFault(chain.toSpliced(2, 1))).toEqual({ sequence: 3, reason: 'missing' });
  expect(findFault(chain.with(2, { ...chain[2]!, action: 'other' }))).toEqual({ sequence: 3, reason: 'changed' });
  expect(findFault(chain.with(2, rehashed))).toEqual({ sequence: 4, reason: 'replaced' });
  expect(findFault(chain.toSpliced(2, 0, chain[1]!))).toEqual({ sequence: 3, reason: 'missing' });
  expect(findFault(chain.slice(1))).toEqual({ sequence: 1, reason: 'missing' });
});

it('a missing end and a chain that was made anew show against a signed position', () => {
  const chain = makeChain(5);
  const signed = [{ sequence: 4, hash: chain[3]!.hash }];
  expect(findFault(chain, signed)).toBeUndefined();
  expect(findFault(chain.slice(0, 3), signed)).toEqual({ sequence: 4, reason: 'missing' });
  expect(findFault(chain, [{ sequence: 4, hash: chain[2]!.hash }])).toEqual({ sequence: 4, reason: 'replaced' });
});

it('an event keeps its hash when a later release adds a field that is null', () => {
  const [event] = makeChain(1);
  expect(hashEvent({ ...event!, later: null } as AuditEvent)).toBe(event!.hash);
});

it('a checkpoint is read with the key that signed it, and with no other', async () => {
  const [ours, others] = await Promise.all(
    [0, 1].map(() => generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })),
  );
  const keySet = async (pair: typeof ours) => ({ keys: [await exportJWK(pair!.publicKey)] });
  const checkpoint = { organization_id: exampleAuditEvent.organization_id, sequence: 1, hash: 'a', signed_at: 'now' };
  const sign = (typ: string) =>
    new CompactSign(new TextEncoder().encode(JSON.stringify(checkpoint)))
      .setProtectedHeader({ alg: 'EdDSA', typ })
      .sign(ours!.privateKey);
  const signature = await sign(CHECKPOINT_TYPE);
  expect(await readCheckpoint(signature, await keySet(ours))).toEqual(checkpoint);
  expect(await readCheckpoint(signature, await keySet(others))).toBeUndefined();
  expect(await readCheckpoint(await sign('JWT'), await keySet(ours))).toBeUndefined();
  expect(await readCheckpoint('no signature', await keySet(ours))).toBeUndefined();
});
