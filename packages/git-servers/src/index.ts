export { reasonToIgnorePush } from './pushes.ts';
export { RepositoryListing } from './repository-listing.ts';
export {
  checkRepositoryUrl,
  fullRef,
  policyOf,
  type RepositoryRules,
  resolveRepository,
} from './repository-url.ts';
