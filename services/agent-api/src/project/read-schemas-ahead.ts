import type { ServiceContext } from '@runyard/service-kit';
import type { ProjectHost } from './project-host.ts';

/** Milliseconds after the start, so that the rest of the platform and the first runs are not slowed down. */
const DELAY_MS = 5_000;
/** Milliseconds for the schemas of one graph, as in builds. */
const SCHEMAS_TIMEOUT_MS = 120_000;

/** Has the schemas that graphs do not carry read off their source, unless they are stored. Nothing depends on it. */
export function readSchemasAhead(host: ProjectHost, { lifecycle, logger }: ServiceContext): void {
  const timer = setTimeout(async () => {
    try {
      const running = await host.requireRunning();
      await running.storeSchemas({ sourceTimeoutMs: SCHEMAS_TIMEOUT_MS, inBackground: true });
    } catch (error) {
      if (!lifecycle.isDraining) {
        logger.info('schemas not stored, the next start reads them again', { reason: (error as Error).message });
      }
    }
  }, DELAY_MS);
  lifecycle.onStop('reading of schemas', () => clearTimeout(timer));
}
