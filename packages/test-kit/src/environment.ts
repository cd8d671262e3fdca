/**
 * Variables with the addresses of the tests' servers. `infra/local/test/global-setup.ts` sets those that the caller's environment lacks.
 */
export const testServerVariables = {
  postgres: 'RUNYARD_TEST_POSTGRES_URL',
  redis: 'RUNYARD_TEST_REDIS_URL',
  kafka: 'RUNYARD_TEST_KAFKA_BROKERS',
} as const;

/** Prefixes of the variables of Kafka's users, which have the names of the services' variables. */
export const kafkaLoginPrefixes = { platform: 'RUNYARD_TEST_', deployments: 'RUNYARD_TEST_DEPLOYMENT_' } as const;

export type TestServer = keyof typeof testServerVariables;

/** Returns the address of a test server; throws with the reason when there is none. */
export function testServerAddress(server: TestServer): string {
  const variable = testServerVariables[server];
  const address = process.env[variable];
  if (!address)
    throw new Error(
      `${variable} is not set: run the test through the repository's vitest config, which starts ${server}.`,
    );
  return address;
}
