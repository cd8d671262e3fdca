export * from './bodies.ts';
export * from './cards.ts';
export * from './messages.ts';
export * from './operations.ts';
export * from './operations-v03.ts';
