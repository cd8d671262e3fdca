import { describe, expect, it } from 'vitest';
import { containerArguments } from './docker.ts';

describe('containerArguments', () => {
  it('publishes on the given address alone, and names variables without their values', () => {
    const words = containerArguments('runyard-1-postgres', {
      name: 'postgres',
      image: 'postgres:17',
      host: '127.0.0.1',
      port: { host: 4001, container: 5432 },
      volumes: { '/data/postgres': '/var/lib/postgresql/data' },
      env: { POSTGRES_PASSWORD: 'open sesame' },
      command: ['-c', 'jit=off'],
      logFile: '/data/postgres.log',
      progress: () => {},
    });
    expect(words.join(' ')).toBe(
      'run --rm --init --name runyard-1-postgres --publish 127.0.0.1:4001:5432 ' +
        '--volume /data/postgres:/var/lib/postgresql/data --env POSTGRES_PASSWORD postgres:17 -c jit=off',
    );
  });
});
