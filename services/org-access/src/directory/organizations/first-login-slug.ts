import { randomBytes } from 'node:crypto';
import type { AuditRecorder } from '../../audit/audit-trail.ts';
import type { Prisma } from '../../generated/client.ts';
import { isFreeLoginSlug, lockLoginSlugs } from './login-slug.ts';

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
  const slug = await makeFreeSlug(displayName, (each) => isFreeLoginSlug(transaction, organizationId, each));
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

/** Returns a slug from a name that is free, with random digits if the name alone is not. */
export async function makeFreeSlug(
  displayName: string,
  isFree: (slug: string) => Promise<boolean>,
  makeDigits = () => randomBytes(3).toString('hex'),
): Promise<string> {
  const words = displayName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|(?<!-)-+$/g, '')
    .slice(0, 40)
    .replace(/-$/, '');
  if (words !== '' && (await isFree(words))) return words;
  for (;;) {
    const slug = `${words || 'organization'}-${makeDigits()}`;
    if (await isFree(slug)) return slug;
  }
}
