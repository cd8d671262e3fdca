// Implements `runyard-agent reach HOST:PORT`: checks whether this container can connect there. Ends with 1 and the
// reason where it cannot.
import { connect } from 'node:net';

const CONNECT_MS = 10_000;

const [address = ''] = process.argv.slice(2);
const [, host, port] = /^(.*):(\d+)$/.exec(address) ?? [];
const socket = connect({ host, port: Number(port) });
const end = (code, reason) => {
  if (reason) console.log(reason);
  process.exit(code);
};
socket.once('connect', () => end(0));
socket.once('error', (error) => end(1, error.errors?.[0]?.message ?? error.message));
setTimeout(() => end(1, `no answer within ${CONNECT_MS / 1000} s`), CONNECT_MS);
