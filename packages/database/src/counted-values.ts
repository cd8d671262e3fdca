import pg from 'pg';

/**
 * Returns parsers for one statement, which report the bytes of each value, as text, before they parse it. What `count`
 * throws fails the statement: none of its further rows is kept, and its connection stays usable.
 */
export function countedValues(count: (bytes: number) => void): pg.CustomTypesConfig {
  const getTypeParser = (...[oid, format]: Parameters<typeof pg.types.getTypeParser>) => {
    const parse = pg.types.getTypeParser(oid, format) as (text: string) => unknown;
    return (text: string) => {
      count(Buffer.byteLength(text));
      return parse(text);
    };
  };
  // The client also sends it as the list of the parameters' types, which is empty: Postgres finds them out.
  return Object.assign([], { getTypeParser: getTypeParser as typeof pg.types.getTypeParser });
}
