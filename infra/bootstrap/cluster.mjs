import { execFile } from 'node:child_process';
import { networkInterfaces } from 'node:os';
import { StepError } from './steps.mjs';

const ANSWER_MS = 10_000;

/**
 * Returns the address of this machine's node in a cluster of one node, as KUBECTL (default `kubectl`) reaches it. Pods
 * reach the servers of the tests there.
 *
 * @throws StepError with one sentence that says what is missing
 */
export async function requireCluster(environment = process.env) {
  if (!environment.RUNYARD_TEST_LOAD_IMAGES) {
    throw new StepError(
      'RUNYARD_TEST_LOAD_IMAGES has to name the command that brings images of the engine, its arguments, into the ' +
        'cluster, as `kind load docker-image` does.',
    );
  }
  const nodes = await listNodes(environment.KUBECTL || 'kubectl');
  if (nodes.length !== 1) throw new StepError(`A cluster of one node is needed, this one has ${nodes.length}.`);
  const address = nodes[0].status.addresses.find(({ type }) => type === 'InternalIP')?.address;
  const own = Object.values(networkInterfaces()).flatMap((each) => each.map(({ address }) => address));
  if (!own.includes(address)) {
    throw new StepError(`The node of the cluster has to be this machine, which has not its address ${address}.`);
  }
  return address;
}

function listNodes(kubectl) {
  return new Promise((resolve, reject) => {
    const args = ['get', 'nodes', '--output=json', `--request-timeout=${ANSWER_MS / 1000}s`];
    execFile(kubectl, args, { maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (!error) resolve(JSON.parse(stdout).items);
      else
        reject(
          new StepError(`A Kubernetes cluster is needed, as \`${kubectl}\` reaches it: ${reasonOf(error, stderr)}`),
        );
    });
  });
}

function reasonOf(error, stderr) {
  if (error.code === 'ENOENT') return 'there is no such program.';
  return stderr.trim().split('\n').at(-1) || error.message;
}
