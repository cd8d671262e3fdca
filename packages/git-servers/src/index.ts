export { RepositoryListing } from './repository-listing.ts';
export {
  checkRepositoryUrl,
  fullRef,
  isSameRepository,
  policyOf,
  type RepositoryRules,
  resolveRepository,
} from './repository-url.ts';
