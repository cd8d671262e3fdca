import type { DescribedGraph } from './describe-graphs.ts';
import { oneLine } from './one-line.ts';

/**
 * Returns lines that name graphs, one for each that has more than a name, cut at the width of the terminal.
 *
 * @param unnamed how many graphs there are besides
 */
export function formatGraphs(
  graphs: readonly DescribedGraph[],
  { unnamed, columns }: { unnamed: number; columns: number },
): string[] {
  const more = unnamed > 0 ? ` and ${unnamed} more` : '';
  const names = graphs.map(({ graph_id }) => graph_id);
  if (graphs.every((graph) => detailsOf(graph) === '')) return [names.join(', ') + more];
  const width = Math.max(...names.map((name) => name.length));
  const lines = graphs.map((graph) => `${graph.graph_id.padEnd(width)}  ${detailsOf(graph)}`.trimEnd());
  return [...lines, ...(more ? [more.trimStart()] : [])].map((line) => cut(line, columns));
}

function detailsOf({ input_keys, tools }: DescribedGraph): string {
  const takes = input_keys && input_keys.length > 0 ? [`takes ${input_keys.join(', ')}`] : [];
  const calls = tools && tools.length > 0 ? [`calls ${tools.join(', ')}`] : [];
  return oneLine([...takes, ...calls].join('; '));
}

function cut(line: string, columns: number): string {
  const characters = [...line];
  return characters.length <= columns ? line : `${characters.slice(0, Math.max(1, columns - 1)).join('')}…`;
}
