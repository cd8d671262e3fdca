export { type Direction, FaultLine, type Slowness } from './fault-line.ts';
export { freePort } from './free-port.ts';
export { kafkaAvailable, type TestKafka, testKafka } from './kafka.ts';
export { percentile } from './percentile.ts';
export { createTestDatabase, dumpDatabase, onDatabase, type TestDatabase } from './postgres.ts';
export { type TestRedis, testRedis } from './redis.ts';
export { type ServiceProcess, type ServiceProcessOptions, startServiceProcess } from './service-process.ts';
export { waitFor } from './wait-for.ts';
export { type ReceivedWebhook, WebhookReceiver } from './webhook-receiver.ts';
