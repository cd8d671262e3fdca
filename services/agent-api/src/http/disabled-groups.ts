import type { Operation } from '@runyard/contracts';
import type { HttpSection } from '@runyard/project';

type Group = 'assistants' | 'threads' | 'runs' | 'store' | 'mcp' | 'a2a' | 'agui' | 'meta' | 'ui';

const META: ReadonlySet<string> = new Set(['/', '/info', '/metrics', '/docs', '/openapi.json']);
/** The group of each path, by the first pattern that fits. Runs include crons and feedback. */
const GROUPS: readonly [RegExp, Group][] = [
  [/^\/threads\/\{\w+\}\/runs(\/|$)/, 'runs'],
  [/^\/(runs|crons|feedback)(\/|$)/, 'runs'],
  [/^\/assistants(\/|$)/, 'assistants'],
  [/^\/threads(\/|$)/, 'threads'],
  [/^\/store(\/|$)/, 'store'],
  [/^\/mcp(\/|$)/, 'mcp'],
  [/^\/(a2a|\.well-known)(\/|$)/, 'a2a'],
  [/^\/agui(\/|$)/, 'agui'],
  [/^\/ui(\/|$)/, 'ui'],
];

/** Returns whether the `disable_*` keys of `http` switch an operation off: it is then a 404 like any unknown path. */
export function createDisabledFilter(http: HttpSection | null): (operation: Pick<Operation, 'path'>) => boolean {
  return ({ path }) => {
    const group = groupOf(path);
    return group !== undefined && http?.[`disable_${group}`] === true;
  };
}

function groupOf(path: string): Group | undefined {
  if (META.has(path)) return 'meta';
  return GROUPS.find(([pattern]) => pattern.test(path))?.[1];
}
