import type { Operation } from '@runyard/contracts';
import type { HttpSection } from '@runyard/graph-host';
import type { CorsRules } from '@runyard/service-kit';
import type { Config } from '../config.ts';
import { corsRulesOf } from './cross-origin.ts';
import { disabledBy } from './disabled-groups.ts';
import { headerPicker, type PickHeaders } from './header-choice.ts';

/** What `http` of `langgraph.json`, and the variables beside it, say about how the server answers. */
export interface HttpSettings {
  cors: CorsRules;
  /** Operations that are switched off. */
  isDisabled: (operation: Pick<Operation, 'path'>) => boolean;
  /** `/ok` looks at nothing. */
  checksNothing: boolean;
  /** Path that everything is served under, without a slash at its end. */
  mountPrefix: string | undefined;
  /** A caller's role is looked at before the project's app sees the request. */
  permissionFirst: boolean;
  /** Request headers that reach `configurable` of runs. */
  configurableHeaders: PickHeaders;
  loggedHeaders: PickHeaders | undefined;
}

export function httpSettings(
  http: HttpSection | null,
  config: Pick<Config, 'CORS_ALLOW_ORIGINS' | 'MOUNT_PREFIX'>,
): HttpSettings {
  return {
    cors: corsRulesOf(http?.cors, config.CORS_ALLOW_ORIGINS),
    isDisabled: disabledBy(http),
    checksNothing: http?.disable_meta === true,
    mountPrefix: http?.mount_prefix ?? config.MOUNT_PREFIX,
    permissionFirst: http?.middleware_order === 'auth_first',
    configurableHeaders: headerPicker(http?.configurable_headers),
    loggedHeaders: http?.logging_headers && headerPicker(http.logging_headers),
  };
}
