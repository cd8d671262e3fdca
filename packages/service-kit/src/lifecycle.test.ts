import { beforeEach, describe, expect, it } from 'vitest';
import { ServiceLifecycle } from './lifecycle.ts';
import { type Logger, silentLogger } from './logger.ts';

describe('the lifecycle of a service', () => {
  let log: string[];
  let errors: unknown[];
  let lifecycle: ServiceLifecycle;

  beforeEach(() => {
    log = [];
    errors = [];
    const logger: Logger = { ...silentLogger, error: (_message, fields) => errors.push(fields) };
    lifecycle = new ServiceLifecycle(logger);
  });

  it('ends readiness first, then drains, then closes in reverse order', async () => {
    lifecycle.onStop('first', () => log.push(`first, ready ${lifecycle.isReady}`));
    lifecycle.onStop('second', async () => {
      await new Promise(setImmediate);
      log.push('second');
    });
    lifecycle.onDrain('intake', () => log.push(`drain, draining ${lifecycle.isDraining}, ready ${lifecycle.isReady}`));
    lifecycle.stopping.addEventListener('abort', () => log.push('signal'));
    lifecycle.ready();
    expect(lifecycle.isReady).toBe(true);
    await lifecycle.stop('test');
    expect(log).toEqual(['signal', 'drain, draining true, ready false', 'second', 'first, ready false']);
  });

  it('stops once, however often it is asked to', async () => {
    lifecycle.onStop('part', () => log.push('closed'));
    await Promise.all([lifecycle.stop('a'), lifecycle.stop('b')]);
    await lifecycle.stop('c');
    expect(log).toEqual(['closed']);
  });

  it('reports every failure and still closes the rest', async () => {
    lifecycle.onStop('first', () => log.push('first'));
    lifecycle.onStop('throws', () => {
      throw new Error('no');
    });
    lifecycle.onStop('rejects', async () => {
      throw new Error('neither');
    });
    await lifecycle.stop('test');
    expect(log).toEqual(['first']);
    expect(errors).toMatchObject([{ part: 'rejects' }, { part: 'throws' }]);
    expect(lifecycle.failures).toBe(2);
  });

  it('waits for a part only until its limit', async () => {
    lifecycle.onStop('first', () => log.push('first'));
    lifecycle.onStop('stuck', () => new Promise(() => {}), { timeoutMs: 10 });
    await lifecycle.stop('test');
    expect(log).toEqual(['first']);
    expect(errors).toMatchObject([{ part: 'stuck', error: { message: 'stuck did not close within 10 ms' } }]);
  });

  it('closes parts that are opened while it stops', async () => {
    lifecycle.onStop('first', () => {
      lifecycle.onStop('late', () => log.push('late'));
    });
    await lifecycle.stop('test');
    expect(log).toEqual(['late']);
  });

  it('never becomes ready again once it stops', async () => {
    const stopped = lifecycle.stop('test');
    lifecycle.ready();
    expect(lifecycle.isReady).toBe(false);
    await stopped;
  });
});
