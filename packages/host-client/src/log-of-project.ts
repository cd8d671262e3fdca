import type { HostLog } from '@runyard/host-protocol';
import type { Logger } from '@runyard/service-kit';

/** Returns a function that logs what the project's code prints, as lines with `from: project`. */
export function logOfProject(logger: Pick<Logger, HostLog['level']>): (line: HostLog) => void {
  return ({ level, message, ...about }) => logger[level](message, { ...about, from: 'project' });
}
