/** The versions of the protocol that this code speaks, the best one last. */
export const PROTOCOL_VERSIONS: readonly number[] = [1];

/** The part of `hello` about versions. Hosts from before versions were negotiated name one alone. */
interface SpokenVersions {
  protocol: number;
  protocols?: readonly number[];
}

/** Returns the highest version that both sides speak; undefined when there is none. */
export function chooseVersion(
  { protocol, protocols = [protocol] }: SpokenVersions,
  spoken: readonly number[] = PROTOCOL_VERSIONS,
): number | undefined {
  return spoken.findLast((version) => protocols.includes(version));
}
