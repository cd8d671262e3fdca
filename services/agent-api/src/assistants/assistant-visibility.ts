import type { Scope } from '../access/scope.ts';
import { whereInScope } from '../access/where-in-scope.ts';
import { Prisma } from '../connections/prisma.ts';

const METADATA = Prisma.raw('metadata');

/**
 * Decides which assistants a caller may read and change. A graph's own (system) assistant is visible to everybody as
 * long as the project has the graph: the rows of graphs that a revision removed stay, so that going back to an older
 * revision finds them again. Only callers who may change everybody's assistants may change it.
 */
export class AssistantVisibility {
  readonly #graphIds: readonly string[];

  constructor(graphIds: readonly string[]) {
    this.#graphIds = graphIds;
  }

  whereVisible(scope: Scope): Prisma.Sql {
    return Prisma.sql`CASE WHEN is_system THEN graph_id = ANY(${this.#graphIds})
                           ELSE ${whereInScope(scope, METADATA)} END`;
  }

  whereChangeable(scope: Scope): Prisma.Sql {
    return Prisma.sql`${this.whereVisible(scope)} AND ${whereInScope(scope, METADATA)}`;
  }
}
