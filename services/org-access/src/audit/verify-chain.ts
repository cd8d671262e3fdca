import {
  CHAIN_START,
  type ChainFault,
  type ChainPosition,
  ChainVerifier,
  type Checkpoint,
  findContradiction,
  isRetentionCut,
  type RetentionCut,
  readCheckpoint,
} from '@runyard/audit-chain';
import type { AuditLogVerification } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import type { Queries } from '../database/database.ts';
import type { AuditKeys } from './audit-keys.ts';
import { readEvents } from './audit-log.ts';

/**
 * Checks the whole chain of an organization against its hashes, its head, and all signed positions.
 *
 * @param options.earlier a checkpoint that the caller kept
 * @throws InvalidFieldError for a checkpoint that is not of this organization or was not signed here
 */
export async function verifyChain(
  queries: Queries,
  keys: AuditKeys,
  organizationId: string,
  { earlier, signal }: { earlier: string | undefined; signal: AbortSignal },
): Promise<AuditLogVerification> {
  const kept = earlier === undefined ? [] : [await readEarlier(keys, organizationId, earlier)];
  for (;;) {
    const stored = await readCheckpoints(queries, keys, organizationId);
    const start = stored.findLast(isRetentionCut);
    const after = start ?? { sequence: 0, hash: CHAIN_START };
    const end = await readEnd(queries, organizationId);
    const signed = [...stored, ...kept, ...(end.head ? [end.head] : [])];
    const verifier = new ChainVerifier({ after, signed: signed.filter(({ sequence }) => sequence > after.sequence) });
    const upTo = Math.max(end.lastSequence, ...signed.map(({ sequence }) => sequence));
    let fault = start && contradictionOf(start, [...stored, ...kept]);
    for await (const batch of readEvents(queries, organizationId, { after: after.sequence, upTo })) {
      signal.throwIfAborted();
      for (const event of batch) fault ??= verifier.check(event);
      if (fault) break;
    }
    // Retention may have removed events since it was looked at.
    if (fault && (await findCutSequence(queries, keys, organizationId)) > after.sequence) continue;
    const last = verifier.position!;
    fault ??= verifier.end();
    if (!fault && last.sequence !== (end.head?.sequence ?? 0))
      fault = { sequence: (end.head?.sequence ?? 0) + 1, reason: 'replaced' };
    const signNow = () => keys.sign({ organization_id: organizationId, ...last, signed_at: new Date().toISOString() });
    return {
      valid: fault === undefined,
      events: last.sequence - after.sequence,
      fault: fault ?? null,
      removed_up_to: start?.sequence ?? null,
      checkpoints: stored.length + kept.length,
      checkpoint_removed: kept.some(({ sequence }) => sequence <= after.sequence),
      checkpoint: fault || last.sequence === 0 ? null : await signNow(),
      keys: keys.publicKeys() as Record<string, unknown>[],
    };
  }
}

/** Reads the head of the chain, and the number of the last event, of one moment. */
async function readEnd(
  queries: Queries,
  organizationId: string,
): Promise<{ head: ChainPosition | undefined; lastSequence: number }> {
  const [row] = await queries.$queryRaw<{ sequence: bigint | null; hash: string | null; last: bigint | null }[]>`
    SELECT head.sequence, encode(head.hash, 'hex') AS hash, last
    FROM (SELECT max(sequence) AS last FROM audit_event WHERE organization_id = ${organizationId}::uuid) AS events
    LEFT JOIN audit_head head ON head.organization_id = ${organizationId}::uuid`;
  const { sequence, hash, last } = row!;
  const head = sequence === null || hash === null ? undefined : { sequence: Number(sequence), hash };
  return { head, lastSequence: Number(last ?? 0) };
}

async function findCutSequence(queries: Queries, keys: AuditKeys, organizationId: string): Promise<number> {
  return (await readCheckpoints(queries, keys, organizationId)).findLast(isRetentionCut)?.sequence ?? 0;
}

/**
 * Returns what speaks against removing the events up to a cut: a chain that is broken before it or does not go on after
 * it, or a signed position. Whoever writes to the database could otherwise make events look old, and have them removed.
 */
export async function findFaultOfCut(
  queries: Queries,
  keys: AuditKeys,
  cut: Omit<RetentionCut, 'signed_at'>,
): Promise<ChainFault | undefined> {
  const { organization_id: organizationId, sequence } = cut;
  const stored = await readCheckpoints(queries, keys, organizationId);
  const start = stored.findLast(isRetentionCut);
  // A removal that was interrupted goes on.
  if (start && start.sequence >= sequence) return undefined;
  const contradiction = contradictionOf(cut, stored);
  if (contradiction) return contradiction;
  const { head } = await readEnd(queries, organizationId);
  const signed = [...stored, ...(head ? [head] : [])].filter((each) => each.sequence <= sequence);
  const verifier = new ChainVerifier({ ...(start && { after: start }), signed });
  const range = { after: start?.sequence ?? 0, upTo: sequence + 1 };
  for await (const batch of readEvents(queries, organizationId, range)) {
    for (const event of batch) {
      const fault = verifier.check(event);
      if (fault) return fault;
    }
  }
  return undefined;
}

function contradictionOf(cut: Omit<RetentionCut, 'signed_at'>, signed: readonly Checkpoint[]): ChainFault | undefined {
  for (const each of signed) {
    const fault = findContradiction(cut, each);
    if (fault) return fault;
  }
  return undefined;
}

/** Returns the signed positions, the oldest first. A row whose signature does not say the same counts as absent. */
async function readCheckpoints(queries: Queries, keys: AuditKeys, organizationId: string): Promise<Checkpoint[]> {
  const rows = await queries.auditCheckpoint.findMany({ where: { organizationId }, orderBy: { sequence: 'asc' } });
  const checkpoints = await Promise.all(
    rows.map(async ({ signature, sequence }) => {
      const checkpoint = await readCheckpoint(signature, { keys: keys.publicKeys() });
      const isOurs = checkpoint?.organization_id === organizationId && BigInt(checkpoint.sequence) === sequence;
      return isOurs ? [checkpoint] : [];
    }),
  );
  return checkpoints.flat();
}

async function readEarlier(keys: AuditKeys, organizationId: string, signature: string): Promise<Checkpoint> {
  const checkpoint = await readCheckpoint(signature, { keys: keys.publicKeys() });
  if (checkpoint?.organization_id === organizationId) return checkpoint;
  throw new InvalidFieldError(['query', 'checkpoint'], 'It was not signed here for this organization.');
}
