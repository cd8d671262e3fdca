export * from './events/index.ts';
export * from './http/common.ts';
export * from './http/internal/principal.ts';
export * from './http/internal/routes.ts';
export * from './operation.ts';
export * from './queues/run-wakeup.ts';
export * from './reserved-metadata.ts';
export * from './routing.ts';
