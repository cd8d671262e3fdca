import type { Logger } from '@runyard/service-kit';

export interface LoggedMessage {
  level: string;
  message: string;
  fields?: Record<string, unknown>;
}

/** Makes a logger that records its lines. */
export function recordingLogger(): { logger: Logger; messages(level: string): LoggedMessage[] } {
  const logged: LoggedMessage[] = [];
  const at = (level: string) => (message: string, fields?: Record<string, unknown>) =>
    void logged.push({ level, message, fields });
  const logger: Logger = {
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    http: at('http'),
    debug: at('debug'),
    child: () => logger,
  };
  return { logger, messages: (level) => logged.filter((one) => one.level === level) };
}
