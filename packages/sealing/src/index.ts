export { type AtRest, atRestWith, PLAIN, sealedAtRest } from './at-rest.ts';
export { Sealer, SealingError } from './sealer.ts';
