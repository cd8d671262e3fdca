const MAX_LENGTH = 50;

/** Returns the form of a name in URLs: lower-case letters, digits and single dashes. */
export function slugOf(name: string): string {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LENGTH)
    .replace(/^-+|(?<!-)-+$/g, '');
  return slug || 'app';
}

/** Makes a taken slug unique by appending the end of the deployment's id. */
export function distinctSlugOf(name: string, deploymentId: string): string {
  return `${slugOf(name)}-${deploymentId.slice(-8)}`;
}
