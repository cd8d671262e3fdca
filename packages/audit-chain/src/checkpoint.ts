import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose';
import type { ChainFault, ChainPosition } from './chain.ts';

export const CHECKPOINT_ALGORITHM = 'EdDSA';
/** `typ` of the signature: no other token of the platform can pass for a checkpoint. */
export const CHECKPOINT_TYPE = 'runyard-audit-checkpoint+jws';

/** Clocks of processes differ, and events come in while a position is signed. */
const CLOCK_TOLERANCE_MS = 3_600_000;

/** A position of an organization's chain, signed by the platform. */
export interface Checkpoint extends ChainPosition {
  organization_id: string;
  /** ISO 8601. */
  signed_at: string;
  /** Retention removed the events up to this one: the chain goes on after it. Of any other position this is missing. */
  kind?: 'retention';
  /** ISO 8601: retention removed events that are older. */
  removed_before?: string;
}

/** The position behind which retention removed events. */
export interface RetentionCut extends Checkpoint {
  kind: 'retention';
  removed_before: string;
}

export function isRetentionCut(checkpoint: Checkpoint): checkpoint is RetentionCut {
  return checkpoint.kind === 'retention' && typeof checkpoint.removed_before === 'string';
}

/**
 * Returns the fault of a cut that a signed position speaks against: events after a position are younger than its
 * signature, so that retention cannot have removed one of them as older.
 */
export function findContradiction(cut: Omit<RetentionCut, 'signed_at'>, signed: Checkpoint): ChainFault | undefined {
  const { sequence, hash, removed_before } = cut;
  if (signed.sequence === sequence && signed.hash !== hash) return { sequence, reason: 'replaced' };
  const age = Date.parse(removed_before) - Date.parse(signed.signed_at);
  const isTooYoung = signed.sequence < sequence && age <= -CLOCK_TOLERANCE_MS;
  return isTooYoung ? { sequence: signed.sequence + 1, reason: 'missing' } : undefined;
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
