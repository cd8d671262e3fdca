/** The claim that identifies a person, by prefixes of the issuer. The longest prefix counts. */
export type SubjectClaims = Readonly<Record<string, string>>;

/** Microsoft makes another `sub` for each client; `oid` is what SCIM knows too. */
const MICROSOFT_SUBJECT_CLAIMS: SubjectClaims = {
  'https://login.microsoftonline.com/': 'oid',
  'https://login.microsoftonline.us/': 'oid',
  'https://sts.windows.net/': 'oid',
};

/** Returns the name of the claim; `sub` for issuers that no prefix fits. */
export function subjectClaimOf(issuer: string, claims: SubjectClaims): string {
  const prefixes = Object.keys(claims).filter((prefix) => issuer.startsWith(prefix));
  const [longest] = prefixes.sort((one, other) => other.length - one.length);
  return longest === undefined ? 'sub' : claims[longest]!;
}

/** Reads `ISSUER_SUB_CLAIM_OVERRIDES`, which adds to the claims of Microsoft. @throws Error that says what is wrong */
export function parseSubjectClaims(text: string | undefined): SubjectClaims {
  if (text === undefined) return MICROSOFT_SUBJECT_CLAIMS;
  let overrides: unknown;
  try {
    overrides = JSON.parse(text);
  } catch (cause) {
    throw new Error('It is not JSON.', { cause });
  }
  const isObject = overrides !== null && typeof overrides === 'object' && !Array.isArray(overrides);
  if (!isObject || !Object.values(overrides as object).every((claim) => typeof claim === 'string' && claim !== ''))
    throw new Error('It must be an object from prefixes of issuers to names of claims.');
  return { ...MICROSOFT_SUBJECT_CLAIMS, ...(overrides as SubjectClaims) };
}
