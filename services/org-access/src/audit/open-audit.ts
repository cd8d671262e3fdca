import { retryStartStep } from '@runyard/database';
import type { BoundOperation } from '@runyard/service-kit';
import type { Foundation } from '../foundation.ts';
import { AuditKeys } from './audit-keys.ts';
import { AuditRetention } from './audit-retention.ts';
import { auditRoutes } from './audit-routes.ts';
import { recordHalts } from './halts.ts';

/** Opens the audit trail for reading and for halts, and removes what is older than the installation keeps. */
export async function openAudit({ config, context, database, bus, cipher }: Foundation): Promise<BoundOperation[]> {
  const { logger, lifecycle } = context;
  const { prisma } = database;
  const keys = new AuditKeys({ prisma, cipher, logger });
  await retryStartStep(() => keys.start(), context);
  const retention = new AuditRetention({ database, keys, days: config.AUDIT_RETENTION_DAYS, logger });
  retention.start();
  lifecycle.onStop('audit retention', () => retention.stop());
  recordHalts({ bus, database, lifecycle, logger });
  return auditRoutes({ prisma, keys });
}
