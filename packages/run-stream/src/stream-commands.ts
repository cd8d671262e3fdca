import type { Redis } from 'ioredis';
import { APPEND } from './scripts/append.ts';
import { EXPIRE } from './scripts/expire.ts';
import { FORGET } from './scripts/forget.ts';
import { RANGE } from './scripts/range.ts';

/** The scripts as commands of the client: keys first, then the arguments that each script names in its first lines. */
export interface StreamCommands {
  runStreamAppend(...args: string[]): Promise<[firstId: string, trimmed: number]>;
  runStreamExpire(...args: string[]): Promise<null>;
  runStreamForget(...args: string[]): Promise<null>;
  runStreamRange(...args: string[]): Promise<string[]>;
}

/** Adds the scripts to a client. ioredis loads each script once and sends its hash from then on. */
export function defineStreamCommands(redis: Redis): Redis & StreamCommands {
  redis.defineCommand('runStreamAppend', { numberOfKeys: 6, lua: APPEND });
  redis.defineCommand('runStreamExpire', { numberOfKeys: 4, lua: EXPIRE });
  redis.defineCommand('runStreamForget', { numberOfKeys: 5, lua: FORGET });
  redis.defineCommand('runStreamRange', { numberOfKeys: 3, lua: RANGE, readOnly: true });
  return redis as Redis & StreamCommands;
}
