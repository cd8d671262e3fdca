import { toSqlText } from '@runyard/database';
import type { Parameters } from '../parameters.ts';

/**
 * Returns conditions for namespaces that begin with these segments, as a range that the primary key supports. In byte
 * order, everything below a namespace lies between it and the same with U+0001 appended to its last segment, since no
 * text contains U+0000.
 */
export function beginsWith(segments: string[], parameters: Parameters): string[] {
  const last = segments.at(-1);
  if (last === undefined) return [];
  const from = segments.map(toSqlText);
  const to = [...from.slice(0, -1), `${toSqlText(last)}\u0001`];
  return [`i.namespace >= ${parameters.add(from)}::text[]`, `i.namespace < ${parameters.add(to)}::text[]`];
}

/** Returns conditions for namespaces that begin or end with the path, in which `*` stands for any one segment. */
export function matchesPath(path: string[], align: 'start' | 'end', parameters: Parameters): string[] {
  const length = parameters.add(path.length);
  const conditions = [`cardinality(i.namespace) >= ${length}::int`];
  for (const [index, segment] of path.entries()) {
    if (segment === '*') continue;
    const position = align === 'start' ? `${index + 1}` : `cardinality(i.namespace) - ${path.length - 1 - index}`;
    conditions.push(`i.namespace[${position}] = ${parameters.add(toSqlText(segment))}`);
  }
  const wildcard = path.indexOf('*');
  if (align === 'start') conditions.push(...beginsWith(wildcard < 0 ? path : path.slice(0, wildcard), parameters));
  return conditions;
}
