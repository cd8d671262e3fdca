import { connect } from 'node:net';

/** Returns the first lines of Redis's answers to commands that read, write and empty, without a login. */
export async function askRedis(port: number, prefix: string): Promise<string[]> {
  const commands = [
    'FLUSHALL',
    'KEYS *',
    'ACL LIST',
    'CONFIG GET requirepass',
    `XRANGE ${prefix}:stream - +`,
    `XADD ${prefix}:stream * a b`,
    `LPUSH ${prefix}:queue a`,
    `PUBLISH ${prefix}:wake a`,
  ];
  const answers = [];
  for (const command of commands) answers.push((await send(port, Buffer.from(`${command}\r\n`))).toString());
  return answers;
}

/**
 * Returns the kind of Postgres's answer to a login as superuser without a password; after an `R`, 0 would mean success.
 */
export async function askPostgres(port: number): Promise<string> {
  const body = Buffer.from('\0\x03\0\0user\0runyard\0database\0postgres\0\0');
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  const answer = await send(port, Buffer.concat([length, body]));
  const kind = answer.toString('latin1', 0, 1);
  return kind === 'R' ? `R${answer.readUInt32BE(5)}` : kind;
}

/** Returns the first answer of a server on this machine. */
function send(port: number, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setTimeout(3_000, () => socket.destroy(new Error('no answer')));
    socket.once('data', (answer) => {
      resolve(answer);
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
}
