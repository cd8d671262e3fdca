interface ScriptPolicy {
  createScriptURL(url: string): string;
}

interface TrustedTypes {
  createPolicy(name: string, rules: ScriptPolicy): ScriptPolicy;
}

let policy: ScriptPolicy | undefined;

/** Returns the address of a worker of ours as one that the policy of the pages lets a worker have. */
export function trustWorkerUrl(url: string): string {
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
  if (!trustedTypes) return url;
  // A page may make its policy once.
  policy ??= trustedTypes.createPolicy('runyard-worker', { createScriptURL: (text) => text });
  return policy.createScriptURL(url);
}
