export { Sealer, SealingError } from './sealer.ts';
