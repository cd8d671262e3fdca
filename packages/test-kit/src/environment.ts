/** Where the tests' servers are. `global-setup.ts` fills in what the caller's environment leaves open. */
export const testServerVariables = {
  postgres: 'RUNYARD_TEST_POSTGRES_URL',
  redis: 'RUNYARD_TEST_REDIS_URL',
  kafka: 'RUNYARD_TEST_KAFKA_BROKERS',
} as const;

export type TestServer = keyof typeof testServerVariables;

/** The address of a test server; throws with the reason when there is none. */
export function testServerAddress(server: TestServer): string {
  const variable = testServerVariables[server];
  const address = process.env[variable];
  if (!address)
    throw new Error(
      `${variable} is not set: run the test through the repository's vitest config, which starts ${server}.`,
    );
  return address;
}
