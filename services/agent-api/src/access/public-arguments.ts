/** Keys that the platform puts into a run's arguments about its caller: graphs read them, and nobody else. */
const PRIVATE_KEY = /^(langgraph_auth_|svc_auth_)/;

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

function withoutPrivate(values: object = {}): object {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !PRIVATE_KEY.test(key)));
}
