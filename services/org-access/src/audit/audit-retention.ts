import type { Checkpoint } from '@runyard/audit-chain';
import { Lease, LeasedTask, leaseMsFor } from '@runyard/leases';
import type { Logger } from '@runyard/service-kit';
import type { Database } from '../database/database.ts';
import { Prisma } from '../generated/client.ts';
import type { AuditKeys } from './audit-keys.ts';
import { audited } from './audit-trail.ts';
import { findFaultOfCut } from './verify-chain.ts';

const DAY_MS = 86_400_000;
/** Events that one transaction removes. */
const BATCH = 5_000;

interface Position {
  organization_id: string;
  sequence: bigint;
  hash: string;
}

/**
 * Signs the end of each chain once a day, and removes events that are too old. Before it removes any it signs the last
 * of them: the chain goes on after that, and a crash in between removes the rest in the next round.
 */
export class AuditRetention {
  readonly #database: Database;
  readonly #keys: AuditKeys;
  readonly #days: number;
  readonly #logger: Logger;
  readonly #task: LeasedTask;

  /** @param options.days `AUDIT_RETENTION_DAYS` */
  constructor(options: { database: Database; keys: AuditKeys; days: number; logger: Logger; everyMs?: number }) {
    const { database, keys, days, logger, everyMs = DAY_MS } = options;
    this.#database = database;
    this.#keys = keys;
    this.#days = days;
    this.#logger = logger;
    this.#task = new LeasedTask({
      lease: new Lease(database.pool, { name: 'audit retention', leaseMs: leaseMsFor(everyMs) }),
      everyMs,
      atStart: true,
      logger,
      run: (task) => this.run(() => task.mayContinue()),
    });
  }

  start(): void {
    this.#task.start();
  }

  stop(): Promise<void> {
    return this.#task.stop();
  }

  async run(mayContinue: () => Promise<boolean> = async () => true): Promise<void> {
    for (const position of await this.#findEnds()) {
      if (!(await mayContinue())) return;
      await this.#sign(position);
    }
    const before = new Date(Date.now() - this.#days * DAY_MS);
    for (const position of await this.#findOutdated(before)) {
      if (!(await mayContinue())) return;
      await this.#remove(position, before);
    }
  }

  /** Ends of chains that grew since they were signed. */
  #findEnds(): Promise<Position[]> {
    return this.#database.prisma.$queryRaw`
      SELECT head.organization_id::text, head.sequence, encode(head.hash, 'hex') AS hash FROM audit_head head
      WHERE head.sequence > 0 AND NOT EXISTS (
        SELECT FROM audit_checkpoint checkpoint
        WHERE checkpoint.organization_id = head.organization_id AND checkpoint.sequence = head.sequence)`;
  }

  /** The last event of each organization that is too old. */
  #findOutdated(before: Date): Promise<Position[]> {
    return this.#database.prisma.$queryRaw`
      SELECT head.organization_id::text, event.sequence, encode(event.hash, 'hex') AS hash
      FROM audit_head head CROSS JOIN LATERAL (
        SELECT sequence, hash FROM audit_event
        WHERE organization_id = head.organization_id AND occurred_at < ${before}
        ORDER BY occurred_at DESC, sequence DESC LIMIT 1
      ) event`;
  }

  /** @param cut what makes the position one behind which events are removed: what is signed says so */
  async #sign({ organization_id, sequence, hash }: Position, cut?: Pick<Checkpoint, 'kind' | 'removed_before'>) {
    const createdAt = new Date();
    const signature = await this.#keys.sign({
      organization_id,
      sequence: Number(sequence),
      hash,
      signed_at: createdAt.toISOString(),
      ...cut,
    });
    const data = {
      organizationId: organization_id,
      sequence,
      hash: new Uint8Array(Buffer.from(hash, 'hex')),
      signature,
      isRetention: cut !== undefined,
      createdAt,
    };
    await this.#database.prisma.auditCheckpoint.upsert({
      where: { organizationId_sequence: { organizationId: organization_id, sequence } },
      create: data,
      update: cut ? { signature, isRetention: true } : {},
    });
  }

  async #remove(position: Position, before: Date): Promise<void> {
    const { organization_id: organizationId, sequence } = position;
    const cut = { kind: 'retention' as const, removed_before: before.toISOString() };
    const claimed = { ...position, ...cut, sequence: Number(sequence) };
    const fault = await findFaultOfCut(this.#database.prisma, this.#keys, claimed);
    if (fault) {
      this.#logger.error('audit events kept, their chain is broken', { organizationId, fault });
      return;
    }
    await this.#sign(position, cut);
    let removed = 0;
    for (let count = BATCH; count === BATCH; removed += count) {
      count = await this.#database.prisma.$transaction(async (transaction) => {
        await transaction.$executeRaw`SELECT set_config('runyard.audit_retention', 'on', true)`;
        return transaction.$executeRaw(Prisma.sql`
          DELETE FROM audit_event WHERE organization_id = ${organizationId}::uuid AND sequence IN (
            SELECT sequence FROM audit_event
            WHERE organization_id = ${organizationId}::uuid AND sequence <= ${sequence} ORDER BY sequence LIMIT ${BATCH})`);
      });
    }
    await this.#database.transact(
      audited(async (_, audit) => {
        audit.record(organizationId, {
          action: 'audit_log.trimmed',
          resourceType: 'audit_log',
          resourceId: null,
          details: { removed, upTo: Number(sequence), retentionDays: this.#days },
        });
      }),
    );
    this.#logger.info('audit events removed', { organizationId, removed, upTo: Number(sequence) });
  }
}
