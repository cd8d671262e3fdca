export * from './run-arguments.ts';
