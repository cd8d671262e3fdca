import { isIP } from 'node:net';
import type { PasskeyAssertion, PasskeyOptions, PasskeyRegistration } from '@runyard/contracts';
import {
  type AuthenticationResponseJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import { decodeAttestationObject } from '@simplewebauthn/server/helpers';
import type { Passkey } from '../../generated/client.ts';

const NAME = 'Runyard';
/** Milliseconds that a browser waits for its person. */
const TIMEOUT_MS = 300_000;
/** EdDSA, ES256 and RS256: every authenticator has one of them. */
const ALGORITHMS = [-8, -7, -257];

const LOOPBACK_ADDRESSES = ['127.0.0.1', '[::1]'];

type Bytes = Uint8Array<ArrayBuffer>;

/** A passkey that an authenticator has made. */
export interface NewPasskey {
  credentialId: Bytes;
  publicKey: Bytes;
  counter: bigint;
  transports: string[];
}

/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn. */
export interface PasskeyRequestOptions {
  challenge: string;
  rpId: string;
  timeout: number;
  userVerification: 'required' | 'preferred';
  allowCredentials: { id: string; type: 'public-key'; transports: string[] }[];
}

/** Speaks WebAuthn for the address at which browsers know the platform. */
export class RelyingParty {
  readonly #id: string;
  readonly #origin: string;

  /** False where browsers make no passkeys: at an IP address, and on plain HTTP to another machine. */
  readonly isAvailable: boolean;

  constructor(options: { publicUrl: string }) {
    const url = new URL(options.publicUrl);
    // Browsers make none for an IP address, and people on the same machine can open this name.
    if (LOOPBACK_ADDRESSES.includes(url.hostname)) url.hostname = 'localhost';
    const { hostname, origin, protocol } = url;
    const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
    this.#id = hostname;
    this.#origin = origin;
    this.isAvailable = (protocol === 'https:' || isLocal) && isIP(hostname.replace(/^\[|\]$/g, '')) === 0;
  }

  /** Returns what `navigator.credentials.create` is called with. */
  creationOptions(
    challenge: string,
    person: { id: string; email: string; fullName: string | null },
    existing: readonly Passkey[],
  ): PasskeyOptions {
    return {
      challenge,
      rp: { id: this.#id, name: NAME },
      user: { id: userHandleOf(person.id), name: person.email, displayName: person.fullName ?? person.email },
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
      timeout: TIMEOUT_MS,
      attestation: 'none',
      // Security keys without a PIN may be second factors, so neither is required.
      authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification: 'preferred' },
      excludeCredentials: existing.map(descriptorOf),
    };
  }

  /**
   * Returns what `navigator.credentials.get` is called with.
   *
   * @param passkeys those of the person who gave their password; null: any that the authenticator finds by itself, which
   *   then has to check its person
   */
  requestOptions(challenge: string, passkeys: readonly Passkey[] | null): PasskeyRequestOptions {
    return {
      challenge,
      rpId: this.#id,
      timeout: TIMEOUT_MS,
      userVerification: passkeys === null ? 'required' : 'preferred',
      allowCredentials: passkeys?.map(descriptorOf) ?? [],
    };
  }

  /** Returns the passkey that a browser made; null when it is none for this site and this challenge. */
  async verifyRegistration(response: PasskeyRegistration, challenge: string): Promise<NewPasskey | null> {
    if (carriesCertificates(response)) return null;
    const { id, rawId, type, response: made } = response;
    const { clientDataJSON, attestationObject, transports = [] } = made;
    const plain: RegistrationResponseJSON = {
      ...{ id, rawId, type, clientExtensionResults: {} },
      response: { clientDataJSON, attestationObject, transports },
    };
    const verified = await verifyRegistrationResponse({
      response: plain,
      expectedChallenge: challenge,
      expectedOrigin: this.#origin,
      expectedRPID: this.#id,
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS,
    }).catch(() => null);
    if (!verified?.verified) return null;
    const { credential } = verified.registrationInfo;
    if (credential.id !== id) return null;
    const { publicKey, counter } = credential;
    return { credentialId: bytesOf(id), publicKey: new Uint8Array(publicKey), counter: BigInt(counter), transports };
  }

  /**
   * Checks the proof that somebody has a passkey. The counter is left to the caller, who compares it where it is stored.
   *
   * @param isOnlyFactor true when the authenticator has to have checked its person, by a PIN or a fingerprint
   * @returns the authenticator's counter; null when the proof is not good
   */
  async verifyAssertion(
    response: PasskeyAssertion,
    { challenge, passkey, isOnlyFactor }: { challenge: string; passkey: Passkey; isOnlyFactor: boolean },
  ): Promise<bigint | null> {
    const { clientDataJSON, authenticatorData, signature, userHandle } = response.response;
    if (userHandle && userHandle !== userHandleOf(passkey.personId)) return null;
    const plain: AuthenticationResponseJSON = {
      ...{ id: response.id, rawId: response.rawId, type: response.type, clientExtensionResults: {} },
      response: { clientDataJSON, authenticatorData, signature },
    };
    const verified = await verifyAuthenticationResponse({
      response: plain,
      expectedChallenge: challenge,
      expectedOrigin: this.#origin,
      expectedRPID: this.#id,
      credential: { id: response.id, publicKey: new Uint8Array(passkey.publicKey), counter: 0 },
      requireUserVerification: isOnlyFactor,
    }).catch(() => null);
    return verified?.verified ? BigInt(verified.authenticationInfo.newCounter) : null;
  }
}

/** Returns the challenge that a browser's answer is about; an empty text when it is none. */
export function challengeIn({ clientDataJSON }: { clientDataJSON: string }): string {
  try {
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8')) as {
      challenge: unknown;
    };
    return typeof challenge === 'string' ? challenge : '';
  } catch {
    return '';
  }
}

export function bytesOf(base64url: string): Bytes {
  return new Uint8Array(Buffer.from(base64url, 'base64url'));
}

/** Returns what authenticators know a person by: the id, which says nothing about them. */
function userHandleOf(personId: string): string {
  return Buffer.from(personId.replaceAll('-', ''), 'hex').toString('base64url');
}

function descriptorOf({ credentialId, transports }: Passkey) {
  return { id: Buffer.from(credentialId).toString('base64url'), type: 'public-key' as const, transports };
}

/**
 * Returns whether an authenticator vouches for itself by certificates, which nobody asked it for: checking them would
 * load lists from addresses that the sender chose.
 */
function carriesCertificates({ response }: PasskeyRegistration): boolean {
  try {
    const attestation = decodeAttestationObject(bytesOf(response.attestationObject));
    const format = attestation.get('fmt');
    if (format === 'none') return false;
    return format !== 'packed' || attestation.get('attStmt').get('x5c') !== undefined;
  } catch {
    return true;
  }
}
