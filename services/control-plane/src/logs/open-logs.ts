import type { ServiceContext } from '@runyard/service-kit';
import { startHourlySweep } from '../hourly-sweep.ts';
import { LogRetention } from './log-retention.ts';
import { type LogHooks, makeLogOpener, type OpenRevisionLog } from './revision-log.ts';

interface LogSettings {
  DATA_DIR: string;
  LOG_RETENTION_DAYS: number;
  LOG_MAX_BYTES_PER_DEPLOYMENT: number;
}

/** Opens the logs below `DATA_DIR` for writing, and starts their retention. */
export function openLogs(
  config: LogSettings,
  { lifecycle, logger }: Pick<ServiceContext, 'lifecycle' | 'logger'>,
  hooks: LogHooks = {},
): OpenRevisionLog {
  const retention = new LogRetention({
    dataDir: config.DATA_DIR,
    retentionDays: config.LOG_RETENTION_DAYS,
    bytesPerDeploymentMax: config.LOG_MAX_BYTES_PER_DEPLOYMENT,
  });
  startHourlySweep('log retention', () => retention.sweep(), { lifecycle, logger });
  return makeLogOpener(config.DATA_DIR, logger, hooks);
}
