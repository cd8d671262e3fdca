export { bundledEntry } from './bundles/bundled-entry.ts';
export { kafkaLoginPrefixes, type TestServer, testServerVariables } from './environment.ts';
export { type Direction, FaultLine } from './fault-line.ts';
export { freePort } from './free-port.ts';
export { HANGS_AFTER_MS } from './hang-limit.ts';
export { hasEnded } from './has-ended.ts';
export {
  digestOf,
  ImageClient,
  LIST_TYPE,
  listOf,
  MANIFEST_TYPE,
  manifestOf,
  referrerOf,
} from './image-client.ts';
export { isKafkaAvailable, type TestKafka, testKafka, testKafkaDeploymentLogin } from './kafka.ts';
export { findCostlyRequests } from './largest-requests/costly-requests.ts';
export type { CollectedSpan } from './otlp-trace.ts';
export { percentile } from './percentile.ts';
export { createTestDatabase, dumpDatabase, type TestDatabase, withDatabaseClient } from './postgres.ts';
export { startPublicServer } from './public-server.ts';
export { deleteKeys, type TestRedis, testRedis } from './redis.ts';
export * from './saml-identity-provider.ts';
export { startServiceInProcess, type TestService } from './service-in-process.ts';
export { type ServiceProcessOptions, startServiceProcess, type TestServiceProcess } from './service-process.ts';
export { type BackgroundPart, startStopStorm } from './start-stop-storm.ts';
export { TraceCollector } from './trace-collector.ts';
export { waitFor } from './wait-for.ts';
export { type ReceivedWebhook, WebhookReceiver } from './webhook-receiver.ts';
