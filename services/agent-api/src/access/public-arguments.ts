import { withoutPrivate } from './user-arguments.ts';

/** Returns a run's arguments as clients and receivers of webhooks may see them, with the final id of its thread. */
export function publicArguments(kwargs: Record<string, unknown>, threadId: string): Record<string, unknown> {
  const config = kwargs.config as { configurable?: object; metadata?: object } | undefined;
  if (!config) return kwargs;
  return {
    ...kwargs,
    config: {
      ...config,
      // A stateless run's thread got its id after the arguments were written.
      configurable: { ...withoutPrivate(config.configurable), thread_id: threadId },
      ...(config.metadata && { metadata: withoutPrivate(config.metadata) }),
    },
  };
}
