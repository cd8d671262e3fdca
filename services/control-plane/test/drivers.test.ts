import { ContainerDriver } from '../src/drivers/container/container-driver.ts';
import { ProcessDriver } from '../src/drivers/process/process-driver.ts';
import { itConforms } from './support/driver-conformance.ts';
import { AGENT, containerOptions } from './support/stand-in-engine.ts';

const IMAGE = 'registry.example.com/team/agent@sha256:0123';

itConforms('process', async (surroundings) => ({
  driver: new ProcessDriver({ ...surroundings, agentApiEntry: AGENT, runWorkerEntry: AGENT }),
  artifact: {
    kind: 'project',
    project: { directory: '/srv/project', configPath: '/srv/project/langgraph.json', hasCustomAuth: false, env: {} },
  },
}));

itConforms('container', async (surroundings) => {
  const driver = new ContainerDriver(containerOptions(surroundings));
  return { driver, artifact: { kind: 'image', imageUri: IMAGE } };
});
