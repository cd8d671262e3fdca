/**
 * Runs a project's code in a process that speaks with its parent over file descriptor 3 and nothing else. When that
 * connection ends, so does the process. The parent chooses its environment.
 */
import { Socket } from 'node:net';
import { HostConnection, PROTOCOL_VERSIONS } from '@runyard/host-protocol/graph-process';
import { Host } from './host.ts';
import { endWithParent, guardProcess } from './process/process-guards.ts';

const PARENT_FD = 3;

const exit = guardProcess({
  log: (line) => host.log(line),
  onUncaught: (error, run) => run && host.failRun(run.runId, error),
});
endWithParent();
const socket = new Socket({ fd: PARENT_FD, readable: true, writable: true });
const connection = new HostConnection({
  socket,
  onMessage: (message) => host.receive(message),
  onClose: () => exit(0),
});
const host = new Host(connection, () => exit(0));
connection.send(0, {
  t: 'hello',
  protocol: PROTOCOL_VERSIONS[0],
  protocols: PROTOCOL_VERSIONS,
  language: 'javascript',
  runtime: `node ${process.version}`,
});
