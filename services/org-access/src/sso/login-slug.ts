import { randomBytes } from 'node:crypto';
import type { AuditRecorder } from '../audit/audit-trail.ts';
import type { Prisma } from '../generated/client.ts';
import { isFreeLoginSlug, lockLoginSlugs } from '../organizations/login-slug.ts';

/** Gives an organization the slug of its sign-in address, from its name, if it has none. */
export async function ensureLoginSlug(
  transaction: Prisma.TransactionClient,
  audit: AuditRecorder,
  organizationId: string,
): Promise<void> {
  const { displayName, ssoLoginSlug } = await transaction.organization.findUniqueOrThrow({
    where: { id: organizationId },
  });
  if (ssoLoginSlug !== null) return;
  await lockLoginSlugs(transaction);
  const slug = await freeSlug(transaction, organizationId, displayName);
  // Another creation at the same time may have given it one: that stays.
  const { count } = await transaction.organization.updateMany({
    where: { id: organizationId, ssoLoginSlug: null },
    data: { ssoLoginSlug: slug },
  });
  if (count === 0) return;
  audit.record(organizationId, {
    action: 'organization.updated',
    resourceType: 'organization',
    resourceId: organizationId,
    before: { sso_login_slug: null },
    after: { sso_login_slug: slug },
  });
}

async function freeSlug(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  displayName: string,
): Promise<string> {
  const words = displayName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-$/, '');
  if (words !== '' && (await isFreeLoginSlug(transaction, organizationId, words))) return words;
  return `${words || 'organization'}-${randomBytes(3).toString('hex')}`;
}
