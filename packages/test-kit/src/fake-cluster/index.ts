export type { Rule } from './api-server.ts';
export { FakeCluster, NAMESPACE } from './fake-cluster.ts';
export { grantedRules } from './granted-rules.ts';
