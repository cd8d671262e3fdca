import type { ServiceContext } from '@runyard/service-kit';
import { startHourlySweep } from '@runyard/service-kit';
import Type, { type Static } from 'typebox';
import { LogRetention } from './log-retention.ts';
import { type LogHooks, makeLogOpener, type OpenRevisionLog } from './revision-log.ts';

export const logVariables = {
  LOG_RETENTION_DAYS: Type.Integer({
    default: 30,
    minimum: 1,
    maximum: 3650,
    description: 'How long logs of revisions are kept.',
  }),
  LOG_MAX_BYTES_PER_DEPLOYMENT: Type.Integer({
    default: 256 * 1024 * 1024,
    minimum: 1024 * 1024,
    description: 'Bytes of all logs of a deployment; beyond it the oldest files go.',
  }),
};

const Settings = Type.Object({ ...logVariables, DATA_DIR: Type.String() });

/** Opens the logs below `DATA_DIR` for writing, and starts their retention. */
export function openLogs(
  config: Static<typeof Settings>,
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
