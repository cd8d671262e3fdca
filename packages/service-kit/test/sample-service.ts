import { runService, serviceVariables } from '@runyard/service-kit';
import Type from 'typebox';

/** A service for tests; a variable chooses its behavior at start and stop. */
await runService({
  name: 'sample',
  schema: Type.Object({
    ...serviceVariables,
    SAMPLE_SECRET: Type.String({ minLength: 1 }),
    SAMPLE_BEHAVIOUR: Type.String({ default: 'well' }),
  }),
  async run(config, { lifecycle, logger }) {
    let endGrace: () => void;
    const graceEnded = new Promise<void>((resolve) => {
      endGrace = resolve;
    });
    if (config.SAMPLE_BEHAVIOUR === 'graceful') lifecycle.onHurry(() => endGrace());
    lifecycle.onStop('part', async () => {
      if (config.SAMPLE_BEHAVIOUR === 'stuck') await new Promise(() => {});
      if (config.SAMPLE_BEHAVIOUR === 'graceful') await graceEnded;
      logger.info('part closed');
    });
    // The timer keeps the process running like a server.
    const up = setInterval(() => {}, 1000);
    lifecycle.onStop('clock', () => clearInterval(up));
    if (config.SAMPLE_BEHAVIOUR === 'fails to start') throw new Error('nothing to listen on');
    lifecycle.ready();
    logger.info('up', { secretLength: config.SAMPLE_SECRET.length, token: config.SAMPLE_SECRET });
    if (config.SAMPLE_BEHAVIOUR === 'rejects') void Promise.reject(new Error('nobody catches this'));
    if (config.SAMPLE_BEHAVIOUR === 'throws') setImmediate(() => thrower());
  },
});

function thrower(): never {
  throw new Error('nobody catches this either');
}
