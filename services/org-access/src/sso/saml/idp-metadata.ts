import { X509Certificate } from 'node:crypto';
import { select } from 'xpath';
import { parseXml } from './parse-xml.ts';

/** The part of a SAML identity provider's metadata that sign-in needs. */
export interface IdpMetadata {
  entityId: string;
  /** The address where sign-in begins, by the HTTP-Redirect binding. */
  signInUrl: string;
  /** Certificates that sign, in PEM; several while keys are rotated. */
  certificates: string[];
}

/** The metadata cannot be used; the message says why. */
export class MetadataError extends Error {
  override readonly name = 'MetadataError';
}

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

/** Reads the metadata of one identity provider. @throws MetadataError */
export function parseIdpMetadata(xml: string): IdpMetadata {
  if (/<!DOCTYPE|<!ENTITY/i.test(xml)) throw new MetadataError('The metadata must not have a document type.');
  const document = parseMetadata(xml);
  const descriptors = elements(document, "//*[local-name()='IDPSSODescriptor']");
  if (descriptors.length !== 1) throw new MetadataError('The metadata must describe exactly one identity provider.');
  const [descriptor] = descriptors as [Element];
  const entityId = (descriptor.parentNode as Element).getAttribute('entityID') ?? '';
  if (entityId === '') throw new MetadataError('The metadata has no entityID.');
  const service = elements(descriptor, "./*[local-name()='SingleSignOnService']").find(
    (each) => each.getAttribute('Binding') === REDIRECT,
  );
  const signInUrl = service?.getAttribute('Location') ?? '';
  if (!isHttpUrl(signInUrl)) throw new MetadataError('The metadata has no SingleSignOnService by HTTP-Redirect.');
  const keys = elements(descriptor, "./*[local-name()='KeyDescriptor'][not(@use) or @use='signing']");
  const certificates = keys.flatMap((key) => elements(key, ".//*[local-name()='X509Certificate']")).map(toPem);
  if (certificates.length === 0) throw new MetadataError('The metadata has no signing certificate.');
  return { entityId, signInUrl, certificates: [...new Set(certificates)] };
}

function parseMetadata(xml: string): Document {
  try {
    return parseXml(xml);
  } catch (error) {
    throw new MetadataError(`The metadata is not XML: ${(error as Error).message}`);
  }
}

function elements(node: Node, path: string): Element[] {
  return select(path, node) as unknown as Element[];
}

function toPem(element: Element): string {
  try {
    const der = Buffer.from((element.textContent ?? '').replace(/\s+/g, ''), 'base64');
    return new X509Certificate(der).toString();
  } catch (cause) {
    throw new MetadataError('The metadata has a certificate that cannot be read.', { cause });
  }
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
