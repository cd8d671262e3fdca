import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { ChainPosition } from './chain.ts';

export const CHECKPOINT_ALGORITHM = 'EdDSA';
/** `typ` of the signature: no other token of the platform can pass for a checkpoint. */
export const CHECKPOINT_TYPE = 'runyard-audit-checkpoint+jws';

/** A position of an organization's chain, signed by the platform. */
export interface Checkpoint extends ChainPosition {
  organization_id: string;
  /** ISO 8601. */
  signed_at: string;
}

/** Returns what a checkpoint (compact JWS) says; undefined when none of the keys signed it. */
export async function readCheckpoint(signature: string, keys: JSONWebKeySet): Promise<Checkpoint | undefined> {
  try {
    const { payload, protectedHeader } = await compactVerify(signature, createLocalJWKSet(keys), {
      algorithms: [CHECKPOINT_ALGORITHM, 'Ed25519'],
    });
    if (protectedHeader.typ !== CHECKPOINT_TYPE) return undefined;
    return JSON.parse(new TextDecoder().decode(payload)) as Checkpoint;
  } catch {
    return undefined;
  }
}
