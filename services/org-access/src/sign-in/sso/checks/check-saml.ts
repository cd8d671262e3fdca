import { X509Certificate } from 'node:crypto';
import type { SsoCheck } from '@runyard/contracts';
import { InvalidFieldError } from '@runyard/service-kit';
import type { SsoProvider } from '../../../generated/client.ts';
import { samlOf } from '../provider-configuration.ts';
import type { ProviderSources } from '../provider-sources.ts';
import { type IdpMetadata, parseIdpMetadata } from '../saml/idp-metadata.ts';
import { failed, passed, warning } from './check-outcomes.ts';

const DAY_MS = 86_400_000;
/** Certificates that end sooner are reported. */
const SOON_MS = 30 * DAY_MS;

/** Reads the metadata of a SAML provider anew, and looks at all that sign-in needs of it. */
export async function checkSaml(provider: SsoProvider, sources: ProviderSources): Promise<SsoCheck[]> {
  const { metadataUrl, entityId } = samlOf(provider);
  const stored = parseIdpMetadata(provider.metadata ?? '');
  const { metadata, check } = await readAnew(metadataUrl, stored, entityId, sources);
  return [
    check,
    passed('sign_in', `Browsers are sent to ${metadata.signInUrl}.`),
    checkCertificates(metadata.certificates, new Date()),
  ];
}

async function readAnew(
  url: string | null,
  stored: IdpMetadata,
  entityId: string,
  sources: ProviderSources,
): Promise<{ metadata: IdpMetadata; check: SsoCheck }> {
  if (url === null) return { metadata: stored, check: passed('metadata', `The metadata of ${entityId} can be read.`) };
  try {
    const metadata = parseIdpMetadata((await sources.readMetadata({ metadata_url: url })).xml);
    if (metadata.entityId === entityId)
      return { metadata, check: passed('metadata', `${url} has the metadata of ${entityId}.`) };
    const detail = `${url} has the metadata of ${metadata.entityId} now, which takes the place of ${entityId}.`;
    return { metadata, check: warning('metadata', detail) };
  } catch (error) {
    if (!(error instanceof InvalidFieldError)) throw error;
    return { metadata: stored, check: failed('metadata', `${url}: ${error.message}`) };
  }
}

/** Checks when certificates in PEM end. One that works is enough, as providers announce new ones beside the old. */
export function checkCertificates(certificates: readonly string[], now: Date): SsoCheck {
  const ends = certificates.map((pem) => new Date(new X509Certificate(pem).validTo)).sort((a, b) => +b - +a);
  const last = ends[0]!;
  const day = last.toISOString().slice(0, 10);
  if (last <= now) return failed('certificates', `The certificate of the provider ended on ${day}.`);
  if (+last - +now < SOON_MS) return warning('certificates', `The certificate of the provider ends on ${day}.`);
  const words = ends.length === 1 ? 'The certificate is' : `The newest of ${ends.length} certificates is`;
  return passed('certificates', `${words} valid until ${day}.`);
}
