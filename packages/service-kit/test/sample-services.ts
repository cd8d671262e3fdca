import { createApp, listen, runServices, type ServiceContext, serviceVariables } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';

const schema = Type.Object({
  ...serviceVariables,
  SAMPLE_SECRET: Type.String({ minLength: 1 }),
  SAMPLE_BEHAVIOUR: Type.String({ default: 'well' }),
});

/** Two services in one process, for tests, of which the second one stops first; variables choose their behavior. */
await runServices([[{ name: 'second', schema, run }], [{ name: 'first', schema, run }]]);

async function run(config: Static<typeof schema>, context: ServiceContext): Promise<void> {
  const { name, lifecycle, logger, metrics } = context;
  lifecycle.onStop('part', () => logger.info('part closed'));
  if (config.SAMPLE_BEHAVIOUR === 'fails to start') throw new Error('nothing to listen on');
  metrics.counter(`sample_${name}_total`, 'Counted by this service alone.').inc();
  const { HOST: host, PORT: port, SAMPLE_SECRET: secret } = config;
  await listen(createApp({ context, operations: [] }), { host, port, context });
  lifecycle.ready();
  logger.info('up', { secretLength: secret.length, setting: process.env.SAMPLE_SETTING });
  if (config.SAMPLE_BEHAVIOUR === 'has a grace') waitUntilHurried(lifecycle);
  setImmediate(() => misbehave(config.SAMPLE_BEHAVIOUR, lifecycle));
}

function misbehave(behaviour: string, lifecycle: ServiceContext['lifecycle']): void {
  if (behaviour === 'rejects') void Promise.reject(new Error('nobody catches this'));
  if (behaviour === 'throws') throw new Error('nobody catches this');
  if (behaviour === 'asks to stop') void lifecycle.stop('it has had enough');
}

/** Its stop waits longer than any test does, unless it is hurried. */
function waitUntilHurried(lifecycle: ServiceContext['lifecycle']): void {
  const hurried = new Promise<void>((resolve) => lifecycle.onHurry(resolve));
  lifecycle.onStop('grace', () => hurried, { timeoutMs: 3_600_000 });
}
