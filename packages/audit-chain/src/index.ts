/**
 * The chain of hashes of an audit trail.
 *
 * - `hashEvent`: the hash of an event, over that of the event before it.
 * - `ChainVerifier`: finds the first event where a chain is broken.
 * - `findContradiction`: whether retention can have removed what a position was signed for.
 * - `readCheckpoint`, `CHECKPOINT_TYPE`: signed positions of a chain, which show that its end is missing.
 */
export { CHAIN_START, type ChainFault, type ChainPosition, ChainVerifier, hashEvent } from './chain.ts';
export {
  CHECKPOINT_ALGORITHM,
  CHECKPOINT_TYPE,
  type Checkpoint,
  findContradiction,
  isRetentionCut,
  type RetentionCut,
  readCheckpoint,
} from './checkpoint.ts';
