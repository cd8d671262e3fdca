export * from './bodies.ts';
export * from './cards.ts';
export * from './messages.ts';
export * from './operations.ts';
