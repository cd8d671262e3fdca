export { freePort, isPortFree } from '@runyard/service-kit/ports';
export { keptSecret, writePrivateFile } from './files/private-file.ts';
export type { Infrastructure, InfrastructureOptions, Servers } from './infrastructure.ts';
export { startInfrastructure } from './infrastructure.ts';
export { InfrastructureError, reasonOf } from './infrastructure-error.ts';
export { lastLines } from './last-lines.ts';
export type { StartedServer } from './server-context.ts';
export type { SupervisedProcess } from './supervision/supervised-process.ts';
export { openSupervisor, type Supervisor } from './supervision/supervisor.ts';
