import type { ProjectFile } from './schema.ts';
import type { HeaderChoice } from './sections/http.ts';
import { DEFAULT_ENV_PREFIX } from './sections/webhooks.ts';

/** Returns one sentence per setting that has no effect because of another, or because another is missing. */
export function findIgnoredSettings({
  graphs,
  auth,
  checkpointer,
  http,
  webhooks,
  ui,
  ui_config,
}: ProjectFile): string[] {
  const { app, cors, enable_custom_route_auth: customRouteAuth } = http ?? {};
  const { ttl } = checkpointer ?? {};
  const isOpen = cors?.allow_origins?.includes('*') ?? cors?.allow_origin_regex === undefined;
  const ignored: [isIgnored: boolean, what: string][] = [
    [auth !== undefined && auth.path === undefined, '"auth" has no effect without "auth.path"'],
    [
      auth?.cache !== undefined && isEmpty(auth.cache.cache_keys),
      '"auth.cache" has no effect without "auth.cache.cache_keys"',
    ],
    [
      customRouteAuth !== undefined && auth?.path === undefined,
      '"http.enable_custom_route_auth" has no effect without "auth.path": routes of the app demand callers of the platform',
    ],
    [
      customRouteAuth !== undefined && app === undefined,
      '"http.enable_custom_route_auth" has no effect without "http.app"',
    ],
    [
      http?.middleware_order === 'auth_first' && app === undefined,
      '"http.middleware_order" has no effect without "http.app"',
    ],
    [
      cors?.allow_credentials === true && isOpen,
      '"http.cors.allow_credentials" has no effect for origins that only `*` lets in: name them',
    ],
    [
      takesNothing(http?.configurable_headers),
      '"http.configurable_headers" takes no header without "http.configurable_headers.includes"',
    ],
    [
      takesNothing(http?.logging_headers),
      '"http.logging_headers" takes no header without "http.logging_headers.includes"',
    ],
    [
      ttl?.strategy === 'keep_latest' && typeof ttl.default_ttl !== 'number',
      '"checkpointer.ttl.strategy" has no effect without "checkpointer.ttl.default_ttl"',
    ],
    [
      webhooks?.headers === undefined && (webhooks?.env_prefix ?? DEFAULT_ENV_PREFIX) !== DEFAULT_ENV_PREFIX,
      '"webhooks.env_prefix" has no effect without "webhooks.headers"',
    ],
    [ui_config !== undefined && ui === undefined, '"ui_config" has no effect without "ui"'],
    // A namespace of its own may be meant; it may also be a graph whose name was mistyped.
    ...Object.keys(ui ?? {}).map((name): [boolean, string] => [
      !Object.hasOwn(graphs, name),
      `"ui.${name}" is not the name of a graph: pages get its components only by the namespace "${name}"`,
    ]),
  ];
  return ignored.flatMap(([isIgnored, what]) => (isIgnored ? [`langgraph.json: ${what}.`] : []));
}

/** Returns whether a choice leaves headers out and takes none. With `*` left out, that is what is wanted. */
function takesNothing({ includes, include, excludes = [], exclude = [] }: HeaderChoice = {}): boolean {
  const leftOut = [...excludes, ...exclude];
  return isEmpty(includes) && isEmpty(include) && leftOut.length > 0 && !leftOut.includes('*');
}

function isEmpty(list: readonly string[] | undefined): boolean {
  return list === undefined || list.length === 0;
}
