import type { AppRoute } from '@runyard/host-protocol';

/**
 * Returns a cheap test whether routes of an app may match a path. It may say yes too often and never no by mistake: it
 * compares only the fixed beginning of each pattern, and a path with escapes always passes.
 */
export function pathFilter(patterns: readonly string[]): (path: string) => boolean {
  const beginnings = [...new Set(patterns.map(fixedBeginning))];
  if (beginnings.includes('')) return () => true;
  return (path) => path.includes('%') || beginnings.some((beginning) => path.startsWith(beginning));
}

/** Returns the same for routes with a method. Where the routes are not known, any request may be for one. */
export function routeFilter(routes: readonly AppRoute[] | null | undefined): (method: string, path: string) => boolean {
  if (!routes) return () => true;
  const filters = new Map<string, (path: string) => boolean>();
  return (method, path) => {
    let filter = filters.get(method);
    if (!filter) {
      filter = pathFilter(routes.filter((route) => answers(route, method)).map((route) => route.path));
      filters.set(method, filter);
    }
    return filter(path);
  };
}

function answers(route: AppRoute, method: string): boolean {
  return route.method === 'ALL' || route.method === method || (method === 'HEAD' && route.method === 'GET');
}

/** Returns `/custom` for `/custom/:id` and `/custom/*`, both of which may also stand for `/custom`. */
function fixedBeginning(pattern: string): string {
  const [beginning = ''] = pattern.split(/[:*{]/, 1);
  return beginning.replace(/(?<!\/)\/+$/, '');
}
