import { orgAccessOperations } from '@runyard/contracts';
import { takeAdvisoryLock } from '@runyard/database';
import { ConflictError, InvalidFieldError } from '@runyard/service-kit';
import type { Prisma } from '../../generated/client.ts';

/** Pages below /login, where the slug's own page is. */
const RESERVED = new Set(orgAccessOperations.flatMap(({ path }) => /^\/login\/([^/{]+)/.exec(path)?.[1] ?? []));
/** Former slugs that an organization keeps: more would let it hold many names. */
const FORMER_MAX = 5;

/** Makes changes of slugs wait for each other, in all organizations. */
export function lockLoginSlugs(transaction: Prisma.TransactionClient): Promise<void> {
  return takeAdvisoryLock(transaction, 'login slugs of organizations');
}

/** Returns whether an organization may have a slug: no other one has it, or had it lately. The caller holds the lock. */
export async function isFreeLoginSlug(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  slug: string,
): Promise<boolean> {
  if (RESERVED.has(slug)) return false;
  const other = { not: organizationId };
  const taken =
    (await transaction.organization.count({ where: { ssoLoginSlug: slug, id: other } })) +
    (await transaction.formerLoginSlug.count({ where: { slug, organizationId: other } }));
  return taken === 0;
}

/**
 * Keeps the slug that an organization has, so that it still leads there, and makes room for another one, which the caller
 * stores.
 *
 * @throws InvalidFieldError for a name of our own pages; ConflictError for another organization's
 */
export async function replaceLoginSlug(
  transaction: Prisma.TransactionClient,
  organizationId: string,
  slug: string,
): Promise<void> {
  if (RESERVED.has(slug))
    throw new InvalidFieldError(['body', 'sso_login_slug'], `${slug} is the name of a page of the platform.`);
  await lockLoginSlugs(transaction);
  if (!(await isFreeLoginSlug(transaction, organizationId, slug)))
    throw new ConflictError(`Another organization has or had the slug ${slug}`, {
      code: 'login_slug_taken',
      headers: { 'x-should-retry': 'false' },
    });
  const { ssoLoginSlug: former } = await transaction.organization.findUniqueOrThrow({ where: { id: organizationId } });
  await transaction.formerLoginSlug.deleteMany({ where: { slug } });
  if (former === null || former === slug) return;
  await transaction.formerLoginSlug.create({ data: { slug: former, organizationId } });
  const dropped = await transaction.formerLoginSlug.findMany({
    where: { organizationId },
    orderBy: [{ replacedAt: 'desc' }, { slug: 'asc' }],
    skip: FORMER_MAX,
  });
  await transaction.formerLoginSlug.deleteMany({ where: { slug: { in: dropped.map((each) => each.slug) } } });
}

/** Selects the organization to which a slug leads, also one that it had before. */
export function withLoginSlug(slug: string): Prisma.OrganizationWhereInput {
  const lower = slug.toLowerCase();
  return { OR: [{ ssoLoginSlug: lower }, { formerLoginSlugs: { some: { slug: lower } } }] };
}
