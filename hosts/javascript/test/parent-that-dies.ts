/** Starts a host, makes its child busy on request, prints the child's pid and waits to be killed. */
import { executionRequest, startHost, startRun } from './host-under-test.ts';

const host = await startHost();
if (process.argv[2] === 'busy') {
  startRun(host, executionRequest('probe', { input: { do: 'spin' } }));
  await host.nextLog(({ message }) => message === 'spinning');
}
console.log(host.pid);
setInterval(() => {}, 1000);
