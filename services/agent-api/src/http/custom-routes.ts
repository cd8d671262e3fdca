/**
 * Decides who may call the routes of a project's own app, where the project has an `auth.path`. `open`: everybody;
 * `authenticated`: users whom the `authenticate` handler lets in; `authorized`: the `on` handlers decide too.
 */
export type CustomRoutePolicy = 'open' | 'authenticated' | 'authorized';

/** Reads `http.enable_custom_route_auth`. */
export function customRoutePolicyOf(setting: boolean | undefined): CustomRoutePolicy {
  if (setting === undefined) return 'authenticated';
  return setting ? 'authorized' : 'open';
}
