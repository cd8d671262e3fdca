/** Starts a host, makes its child busy when told to, prints the child's pid and waits to be killed. */
import { runRequest, startHost, startRun } from './host-under-test.ts';

const host = await startHost();
if (process.argv[2] === 'busy') {
  startRun(host, runRequest('probe', { input: { do: 'spin' } }));
  while (!host.logs.some(({ message }) => message === 'spinning'))
    await new Promise((resolve) => setImmediate(resolve));
}
console.log(host.pid);
setInterval(() => {}, 1000);
