import { UnavailableError } from '../errors.ts';
import type { ServiceContext } from '../service.ts';
import { ok, type Reply } from './reply.ts';

export type ReadinessChecks = Record<string, () => Promise<void>>;

const CHECK_TIMEOUT_MS = 3_000;

/**
 * Answers `/ok`: the process is alive. With `check_db=1`: it can work, because it has started, is not draining, and all
 * checks pass.
 */
export async function answerHealth(context: ServiceContext, checks: ReadinessChecks, ready: boolean): Promise<Reply> {
  if (!ready) return ok({ ok: true, services: {} });
  if (context.lifecycle.isDraining) return notNow('The service is shutting down');
  if (!context.lifecycle.isReady) return notNow('The service is starting');
  const outcomes = await Promise.all(Object.entries(checks).map(([name, check]) => outcome(name, check)));
  const failed = outcomes.filter((each) => each.error !== undefined);
  if (failed.length > 0) {
    throw new UnavailableError(`Not available: ${failed.map(({ name }) => name).join(', ')}`, {
      code: 'service_not_ready',
      retryAfterSeconds: 1,
      internal: { checks: Object.fromEntries(failed.map(({ name, error }) => [name, messageOf(error)])) },
    });
  }
  return ok({ ok: true, services: Object.fromEntries(outcomes.map(({ name }) => [name, 'ok'])) });
}

/** Answers 503 without a failure in the log, because probes ask until the service is ready. */
function notNow(detail: string): Reply {
  return { status: 503, body: { detail }, headers: { 'retry-after': '1' } };
}

async function outcome(name: string, check: () => Promise<void>): Promise<{ name: string; error?: unknown }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`)), CHECK_TIMEOUT_MS);
  });
  try {
    await Promise.race([check(), late]);
    return { name };
  } catch (error) {
    return { name, error: error ?? new Error('failed') };
  } finally {
    clearTimeout(timer);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
