import { X509Certificate } from 'node:crypto';
import { requireCheapXml, type XmlLimits } from './cheap-xml.ts';
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

const ELEMENT_NODE = 1;
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';

/** Much more than providers publish of themselves. */
const LIMITS: XmlLimits = { characters: 500_000, depth: 64, nodes: 20_000, siblings: 20_000, attributes: 20_000 };
/** Each of a provider's keys is tried with each response. */
const CERTIFICATES_MAX = 10;

/** Reads the metadata of one identity provider. @throws MetadataError */
export function parseIdpMetadata(xml: string): IdpMetadata {
  if (/<!DOCTYPE|<!ENTITY/i.test(xml)) throw new MetadataError('The metadata must not have a document type.');
  const descriptors = named(descendantsOf(parseMetadata(xml)), 'IDPSSODescriptor');
  if (descriptors.length !== 1) throw new MetadataError('The metadata must describe exactly one identity provider.');
  const [descriptor] = descriptors as [Element];
  const entityId = (descriptor.parentNode as Element).getAttribute('entityID') ?? '';
  if (entityId === '') throw new MetadataError('The metadata has no entityID.');
  const service = named(childrenOf(descriptor), 'SingleSignOnService').find(
    (each) => each.getAttribute('Binding') === REDIRECT,
  );
  const signInUrl = service?.getAttribute('Location') ?? '';
  if (!isHttpUrl(signInUrl)) throw new MetadataError('The metadata has no SingleSignOnService by HTTP-Redirect.');
  const keys = named(childrenOf(descriptor), 'KeyDescriptor').filter(
    (key) => !key.hasAttribute('use') || key.getAttribute('use') === 'signing',
  );
  const certificates = keys.flatMap((key) => named(descendantsOf(key), 'X509Certificate'));
  if (certificates.length === 0) throw new MetadataError('The metadata has no signing certificate.');
  if (certificates.length > CERTIFICATES_MAX)
    throw new MetadataError(`The metadata has more than ${CERTIFICATES_MAX} signing certificates.`);
  return { entityId, signInUrl, certificates: [...new Set(certificates.map(toPem))] };
}

function parseMetadata(xml: string): Document {
  try {
    requireCheapXml(xml, LIMITS);
    return parseXml(xml);
  } catch (error) {
    throw new MetadataError(`The metadata is not XML: ${(error as Error).message}`);
  }
}

function named(elements: Iterable<Element>, name: string): Element[] {
  return [...elements].filter(({ localName }) => localName === name);
}

function* childrenOf(node: Node): Generator<Element> {
  for (let child = node.firstChild; child; child = child.nextSibling)
    if (child.nodeType === ELEMENT_NODE) yield child as Element;
}

function* descendantsOf(node: Node): Generator<Element> {
  for (const child of childrenOf(node)) {
    yield child;
    yield* descendantsOf(child);
  }
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
