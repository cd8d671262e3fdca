const MAX_LENGTH = 50;

/** The form a name takes in URLs: lower case, digits and single dashes. */
export function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LENGTH)
    .replace(/^-+|-+$/g, '');
  return slug || 'app';
}

/** For a name whose slug another deployment has already: the same with the end of its own id. */
export function distinctSlugOf(name: string, deploymentId: string): string {
  return `${slugOf(name)}-${deploymentId.slice(-8)}`;
}
