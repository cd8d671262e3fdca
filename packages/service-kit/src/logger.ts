import type { Writable } from 'node:stream';
import winston from 'winston';
import { redactFields, redactText } from './redaction.ts';

/** Logs a sentence with fields, and masks secrets in both. `child` adds fields to all its lines. */
export interface Logger {
  error(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  /** Logs one line per request. The level is below `info`, so it is off by default. */
  http(message: string, fields?: Record<string, unknown>): void;
  debug(message: string, fields?: Record<string, unknown>): void;
  child(fields: Record<string, unknown>): Logger;
}

export type LogLevel = 'error' | 'warn' | 'info' | 'http' | 'debug' | 'silent';

export interface LoggerOptions {
  level: LogLevel;
  /** One JSON object per line, for collectors; otherwise lines for people. */
  json: boolean;
  /** True when lines for people have colored levels. */
  color?: boolean;
  service: string;
  /** Takes the lines, in place of standard output and standard error. */
  output?: Writable | undefined;
}

export function createLogger({ level, json, color = false, service, output }: LoggerOptions): Logger {
  const sink = winston.createLogger({
    level: level === 'silent' ? 'error' : level,
    silent: level === 'silent',
    format: winston.format.combine(winston.format.timestamp(), json ? jsonLine() : plainLine(color)),
    transports: [
      output
        ? new winston.transports.Stream({ stream: output })
        : new winston.transports.Console({ stderrLevels: ['error'] }),
    ],
    exitOnError: false,
  });
  return new WinstonLogger(sink, { service });
}

/** Logs nothing; for tests, and for libraries without a logger. */
export const silentLogger: Logger = {
  error() {},
  warn() {},
  info() {},
  http() {},
  debug() {},
  child: () => silentLogger,
};

class WinstonLogger implements Logger {
  readonly #sink: winston.Logger;
  readonly #fields: Record<string, unknown>;

  constructor(sink: winston.Logger, fields: Record<string, unknown>) {
    this.#sink = sink;
    this.#fields = fields;
  }

  error(message: string, fields?: Record<string, unknown>): void {
    this.#write('error', message, fields);
  }
  warn(message: string, fields?: Record<string, unknown>): void {
    this.#write('warn', message, fields);
  }
  info(message: string, fields?: Record<string, unknown>): void {
    this.#write('info', message, fields);
  }
  http(message: string, fields?: Record<string, unknown>): void {
    this.#write('http', message, fields);
  }
  debug(message: string, fields?: Record<string, unknown>): void {
    this.#write('debug', message, fields);
  }
  child(fields: Record<string, unknown>): Logger {
    return new WinstonLogger(this.#sink, { ...this.#fields, ...fields });
  }

  #write(level: string, message: string, fields: Record<string, unknown> | undefined): void {
    if (!this.#sink.isLevelEnabled(level)) return;
    const masked = redactFields({ ...this.#fields, ...fields }) as Record<string, unknown>;
    this.#sink.log({ level, message: redactText(message), fields: masked });
  }
}

function jsonLine(): winston.Logform.Format {
  return winston.format.printf(({ level, message, timestamp, fields }) =>
    JSON.stringify({ time: timestamp, level, message, ...(fields as Record<string, unknown>) }),
  );
}

const COLORS: Record<string, number> = { error: 31, warn: 33, info: 32, http: 36, debug: 90 };

function plainLine(color: boolean): winston.Logform.Format {
  return winston.format.printf(({ level, message, timestamp, fields }) => {
    const { service, error, ...rest } = fields as Record<string, unknown>;
    const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : '';
    const shownLevel = color ? `\u001b[${COLORS[level] ?? 0}m${level.padEnd(5)}\u001b[0m` : level.padEnd(5);
    return `${timestamp} ${shownLevel} ${service}: ${message}${details}${error === undefined ? '' : `\n${plainError(error)}`}`;
  });
}

function plainError(error: unknown): string {
  const stack = (error as { stack?: unknown }).stack;
  return typeof stack === 'string' ? stack : JSON.stringify(error);
}
