import { toSqlJson } from '@runyard/database';
import { Prisma } from '../connections/prisma.ts';
import { isRestricted, type Scope } from './scope.ts';

/** Returns the condition that a `jsonb` column or expression is within the scope. */
export function whereInScope(scope: Scope, metadata: Prisma.Sql): Prisma.Sql {
  if (!isRestricted(scope)) return Prisma.sql`TRUE`;
  if (scope.length === 0) return Prisma.sql`FALSE`;
  // Conditions of their own, and not one list of values, let the index on metadata find each.
  const alternatives = scope.map((part) => Prisma.sql`${metadata} @> ${toSqlJson(part)}::jsonb`);
  return Prisma.sql`(${Prisma.join(alternatives, ' OR ')})`;
}
