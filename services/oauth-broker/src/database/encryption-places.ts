/** The places for which values are encrypted: no ciphertext can be decrypted as another row's. */
export const placeOf = {
  clientSecret: (providerUuid: string): string => `oauth-provider/${providerUuid}/client-secret`,
  codeVerifier: (flowId: string): string => `oauth-flow/${flowId}/code-verifier`,
  token: ({ organizationId, id }: { organizationId: string; id: string }): string =>
    `oauth-token/${organizationId}/${id}`,
};
