import type pg from 'pg';

/** Marks statements whose rows are returned at once. */
const AT_ONCE = Symbol('rows at once');

/**
 * Returns the statement so that nothing is awaited before its rows are returned. For one that many callers share: each
 * awaits what its own rows need, and none what those of others need.
 */
export function withoutBeforeRows<Statement extends pg.QueryConfig>(statement: Statement): Statement {
  return { ...statement, [AT_ONCE]: true };
}

function isAtOnce(statement: unknown): boolean {
  return typeof statement === 'object' && statement !== null && AT_ONCE in statement;
}

type Callback = (error: Error | undefined, result: unknown) => void;

/** Returns a class of connections that await the function with the rows of each statement before they return them. */
export function clientBeforeRows(
  Base: typeof pg.Client,
  beforeRows: (rows: unknown[]) => Promise<void> | undefined,
): typeof pg.Client {
  const query = Base.prototype.query as (...args: unknown[]) => unknown;
  return class extends Base {
    // Callers use every overload of the base class: texts, configurations and cursors, with and without a callback.
    // biome-ignore lint/suspicious/noExplicitAny: see above
    override query(...args: any[]): any {
      const callback = args.findLast((arg) => typeof arg === 'function') as Callback | undefined;
      const answer = query.apply(this, callback ? args.filter((arg) => arg !== callback) : args);
      // A cursor reads its rows later, by its own means.
      if (!(answer instanceof Promise)) return answer;
      const isAwaited = !isAtOnce(args[0]);
      const prepared = answer.then(async (result: pg.QueryResult | pg.QueryResult[]) => {
        if (isAwaited) await beforeRows([result].flat().flatMap(({ rows }) => rows));
        return result;
      });
      if (!callback) return prepared;
      prepared.then((result) => callback(undefined, result), callback as (error: Error) => void);
    }
  };
}
