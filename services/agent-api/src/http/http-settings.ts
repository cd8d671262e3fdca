import type { Operation } from '@runyard/contracts';
import type { HttpSection } from '@runyard/project';
import type { CorsRules } from '@runyard/service-kit';
import type { Config } from '../config.ts';
import { corsRulesOf } from './cross-origin.ts';
import { type CustomRoutePolicy, customRoutePolicyOf } from './custom-routes.ts';
import { createDisabledFilter } from './disabled-groups.ts';
import { headerPicker, type PickHeaders } from './header-choice.ts';

/** How the server answers, by `http` of `langgraph.json` and the variables beside it. */
export interface HttpSettings {
  cors: CorsRules;
  /** Returns whether an operation is switched off. */
  isDisabled: (operation: Pick<Operation, 'path'>) => boolean;
  /** True when `/ok` answers without any check. */
  skipsChecks: boolean;
  /** The path that everything is served under, without a slash at its end. */
  mountPrefix: string | undefined;
  /** True when callers are asked who they are, and their role is checked, before middleware sees the request. */
  authFirst: boolean;
  /** Decides who may call the routes of the project's app, where the project has an `auth.path`. */
  customRoutes: CustomRoutePolicy;
  /** Picks the request headers that reach `configurable` of runs. */
  configurableHeaders: PickHeaders;
  loggedHeaders: PickHeaders | undefined;
}

export function httpSettings(
  http: HttpSection | null,
  config: Pick<Config, 'CORS_ALLOW_ORIGINS' | 'MOUNT_PREFIX'>,
): HttpSettings {
  return {
    cors: corsRulesOf(http?.cors, config.CORS_ALLOW_ORIGINS),
    isDisabled: createDisabledFilter(http),
    skipsChecks: http?.disable_meta === true,
    mountPrefix: http?.mount_prefix ?? config.MOUNT_PREFIX,
    authFirst: http?.middleware_order === 'auth_first',
    customRoutes: customRoutePolicyOf(http?.enable_custom_route_auth),
    configurableHeaders: headerPicker(http?.configurable_headers),
    loggedHeaders: http?.logging_headers && headerPicker(http.logging_headers),
  };
}
