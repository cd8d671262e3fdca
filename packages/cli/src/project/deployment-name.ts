/** Returns the form of names that this command gives deployments: lower case, digits and dashes. */
export function toDeploymentName(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|(?<!-)-+$/g, '');
  return name || 'app';
}
