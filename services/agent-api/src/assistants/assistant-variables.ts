import { RunConfig } from '@runyard/contracts';
import { ConfigError, readConfig } from '@runyard/service-kit';
import Type from 'typebox';

const Defaults = Type.Object({
  ...RunConfig.properties,
  context: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

const variables = Type.Object({
  LANGGRAPH_CONFIG: Type.Record(Type.String(), Defaults, {
    default: {},
    description: 'By graph: configuration and `context` of its default assistant.',
  }),
  LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS: Type.Integer({
    default: 30_000,
    minimum: 1,
    description: 'How long the schemas of a graph may be looked for in its source.',
  }),
});

interface AssistantDefault {
  config?: RunConfig;
  context?: Record<string, unknown>;
}

/** The configuration of default assistants, by graph id. */
export type AssistantDefaults = Record<string, AssistantDefault>;

export interface AssistantVariables {
  defaults: AssistantDefaults;
  schemaTimeoutMs: number;
}

/**
 * Reads the variables about assistants. They may stand in the environment of the service or of the project; the latter
 * wins.
 *
 * @throws ConfigError
 */
export function readAssistantVariables(environment: Record<string, string | undefined>): AssistantVariables {
  const { LANGGRAPH_CONFIG, LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS } = readConfig(variables, { environment });
  const defaults = Object.entries(LANGGRAPH_CONFIG).map(
    ([graphId, { context, ...config }]): [string, AssistantDefault] => {
      if (config.configurable && context) {
        throw new ConfigError([`LANGGRAPH_CONFIG gives "${graphId}" both configurable and context: give one of them.`]);
      }
      return [graphId, { config, ...(context !== undefined && { context }) }];
    },
  );
  return { defaults: Object.fromEntries(defaults), schemaTimeoutMs: LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS };
}
