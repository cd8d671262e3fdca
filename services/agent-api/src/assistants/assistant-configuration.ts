import type { RunConfig } from '@runyard/contracts';
import { BadRequestError } from '@runyard/service-kit';

export interface AssistantConfiguration {
  config: RunConfig;
  /** Mirrors `config.configurable`: graphs of either style find what was given in the other. */
  context: Record<string, unknown>;
}

interface ConfigurationInput {
  config?: RunConfig | undefined;
  context?: Record<string, unknown> | undefined;
}

/** @throws BadRequestError when `config.configurable` and `context` are both given */
export function configurationOf({ config = {}, context = {} }: ConfigurationInput): AssistantConfiguration {
  const configurable = config.configurable ?? {};
  if (!isFilled(context)) return { config, context: configurable };
  if (isFilled(configurable)) {
    throw new BadRequestError(
      'Cannot specify both configurable and context. Prefer setting context alone: it replaces configurable.',
    );
  }
  return { config: { ...config, configurable: context }, context };
}

/**
 * Returns the configuration after a change. A given part replaces the whole part: a config brings its own tags and
 * recursion limit, and the context follows its `configurable` if it has one; a context alone leaves tags and limit as
 * they are.
 *
 * @throws BadRequestError when `config.configurable` and `context` are both given
 */
export function mergeConfiguration(current: AssistantConfiguration, given: ConfigurationInput): AssistantConfiguration {
  if (given.config !== undefined) {
    const isAboutContext = given.config.configurable !== undefined || given.context !== undefined;
    return isAboutContext ? configurationOf(given) : { config: given.config, context: current.context };
  }
  if (given.context === undefined) return { config: current.config, context: current.context };
  const { configurable: _, ...config } = current.config;
  return configurationOf({ config, context: given.context });
}

function isFilled(values: object): boolean {
  return Object.keys(values).length > 0;
}
