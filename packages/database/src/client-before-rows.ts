import pg from 'pg';

type Callback = (error: Error | undefined, result: unknown) => void;

/** Returns a class of connections that await the function with the rows of each statement before they return them. */
export function clientBeforeRows(beforeRows: (rows: unknown[]) => Promise<void> | undefined): typeof pg.Client {
  const query = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  return class extends pg.Client {
    // Callers use every overload of the base class: texts, configurations and cursors, with and without a callback.
    // biome-ignore lint/suspicious/noExplicitAny: see above
    override query(...args: any[]): any {
      const callback = args.findLast((arg) => typeof arg === 'function') as Callback | undefined;
      const answer = query.apply(this, callback ? args.filter((arg) => arg !== callback) : args);
      // A cursor reads its rows later, by its own means.
      if (!(answer instanceof Promise)) return answer;
      const prepared = answer.then(async (result: pg.QueryResult | pg.QueryResult[]) => {
        await beforeRows([result].flat().flatMap(({ rows }) => rows));
        return result;
      });
      if (!callback) return prepared;
      prepared.then((result) => callback(undefined, result), callback as (error: Error) => void);
    }
  };
}
