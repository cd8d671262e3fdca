/**
 * Finds the operation for a method and a path. A fixed segment wins over a placeholder where both match, whatever the
 * order of registration. Matching is exact: it accepts no trailing slash, and no other case.
 */
export class RouteTable<Target> {
  readonly #root: Node<Target> = { fixed: new Map(), targets: new Map() };

  /**
   * @param template a path in which `{name}` stands for one segment, `{name}:verb` for one that ends in `:verb`, and
   *   `{name...}` at its end for all the rest
   */
  add(method: string, template: string, target: Target): void {
    let node = this.#root;
    const names: string[] = [];
    for (const segment of segmentsOf(template)) {
      const placeholder = /^\{(\w+)(\.\.\.)?\}(?::(\w+))?$/.exec(segment);
      if (!placeholder) {
        node = childOf(node.fixed, segment);
        continue;
      }
      names.push(placeholder[1]!);
      if (placeholder[3]) {
        node.verbs ??= new Map();
        node = childOf(node.verbs, placeholder[3]);
      } else if (placeholder[2]) node = node.rest ??= { fixed: new Map(), targets: new Map() };
      else node = node.any ??= { fixed: new Map(), targets: new Map() };
    }
    const key = method.toUpperCase();
    if (node.targets.has(key)) throw new Error(`Two operations for ${key} ${template}`);
    node.targets.set(key, { target, template, names });
  }

  find(method: string, path: string): RouteMatch<Target> {
    const segments = segmentsOf(path);
    const allowed = new Set<string>();
    const found = search(this.#root, segments, 0, [], method, allowed);
    if (!found) return allowed.size > 0 ? { kind: 'wrong method', allowed: withHead(allowed) } : { kind: 'none' };
    const params: Record<string, string> = {};
    try {
      found.route.names.forEach((name, index) => {
        params[name] = decodeURIComponent(found.values[index]!);
      });
    } catch {
      return { kind: 'none' };
    }
    return { kind: 'found', target: found.route.target, template: found.route.template, params };
  }
}

export type RouteMatch<Target> =
  | { kind: 'found'; target: Target; template: string; params: Record<string, string> }
  | { kind: 'wrong method'; allowed: string[] }
  | { kind: 'none' };

interface Route<Target> {
  target: Target;
  template: string;
  names: string[];
}

interface Node<Target> {
  fixed: Map<string, Node<Target>>;
  any?: Node<Target>;
  /** Segments that end in `:verb`, by the verb. */
  verbs?: Map<string, Node<Target>>;
  rest?: Node<Target>;
  targets: Map<string, Route<Target>>;
}

function search<Target>(
  node: Node<Target>,
  segments: string[],
  index: number,
  values: string[],
  method: string,
  allowed: Set<string>,
): { route: Route<Target>; values: string[] } | undefined {
  const segment = segments[index];
  if (segment === undefined) return pick(node, values, method, allowed);
  const fixed = node.fixed.get(segment);
  if (fixed) {
    const found = search(fixed, segments, index + 1, values, method, allowed);
    if (found) return found;
  }
  // The last colon that is not encoded: an id may have encoded ones.
  const colon = node.verbs ? segment.lastIndexOf(':') : -1;
  const verb = colon > 0 ? node.verbs?.get(segment.slice(colon + 1)) : undefined;
  if (verb) {
    const found = search(verb, segments, index + 1, [...values, segment.slice(0, colon)], method, allowed);
    if (found) return found;
  }
  if (node.any && segment !== '') {
    const found = search(node.any, segments, index + 1, [...values, segment], method, allowed);
    if (found) return found;
  }
  return node.rest && pick(node.rest, [...values, segments.slice(index).join('/')], method, allowed);
}

function pick<Target>(node: Node<Target>, values: string[], method: string, allowed: Set<string>) {
  const route = node.targets.get(method) ?? (method === 'HEAD' ? node.targets.get('GET') : undefined);
  if (route) return { route, values };
  for (const other of node.targets.keys()) allowed.add(other);
  return undefined;
}

function withHead(methods: Set<string>): string[] {
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

function childOf<Target>(children: Map<string, Node<Target>>, segment: string): Node<Target> {
  let child = children.get(segment);
  if (!child) {
    child = { fixed: new Map(), targets: new Map() };
    children.set(segment, child);
  }
  return child;
}

function segmentsOf(path: string): string[] {
  return path.split('/').slice(1);
}
