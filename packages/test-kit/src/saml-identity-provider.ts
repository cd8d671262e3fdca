import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignedXml } from 'xml-crypto';

export interface SamlSigner {
  privateKey: string;
  certificate: string;
}

/** Makes a key and a self-signed certificate. */
export function makeSamlSigner(): SamlSigner {
  const folder = mkdtempSync(join(tmpdir(), 'saml-signer-'));
  try {
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=idp',
        '-keyout',
        key,
        '-out',
        certificate,
      ],
      { stdio: 'pipe' },
    );
    return { privateKey: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const bare = (certificate: string) => certificate.replace(/-----[A-Z ]+-----|\s/g, '');

/** Returns the metadata of an identity provider. */
export function samlMetadataOf(idp: { entityId: string; signInUrl: string; signer: SamlSigner }): string {
  return `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${idp.entityId}">
<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
<KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${bare(idp.signer.certificate)}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>
<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${idp.signInUrl}"/>
</IDPSSODescriptor></EntityDescriptor>`;
}

export interface SamlResponseOptions {
  entityId: string;
  signer: SamlSigner;
  /** The assertion consumer service of the service provider. */
  recipient: string;
  audience: string;
  nameId: string;
  nameIdFormat?: string;
  attributes?: Record<string, string[]>;
  inResponseTo?: string;
  assertionId?: string;
  sessionIndex?: string;
  /** The end of the assertion, in milliseconds from now. */
  expiresInMs?: number;
  notBeforeInMs?: number;
  /** The parts that are signed. */
  signs?: 'assertion' | 'response' | 'both' | 'nothing';
  signatureAlgorithm?: 'rsa-sha256' | 'rsa-sha1';
  /** Changes the assertion before it is signed. */
  changeAssertion?: (xml: string) => string;
}

/** Returns a SAML response as an identity provider makes it, as XML. */
export function makeSamlResponse(options: SamlResponseOptions): string {
  const { signs = 'assertion', changeAssertion = (xml) => xml } = options;
  const responseId = `_${randomUUID()}`;
  const assertionId = options.assertionId ?? `_${randomUUID()}`;
  let assertion = changeAssertion(assertionOf(options, assertionId));
  if (signs === 'assertion' || signs === 'both') assertion = sign(assertion, assertionId, options);
  const inResponseTo = options.inResponseTo ? ` InResponseTo="${options.inResponseTo}"` : '';
  const response = `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${responseId}" Version="2.0" IssueInstant="${at(0)}" Destination="${options.recipient}"${inResponseTo}><saml:Issuer>${options.entityId}</saml:Issuer><samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>${assertion}</samlp:Response>`;
  return signs === 'response' || signs === 'both' ? sign(response, responseId, options) : response;
}

const at = (inMs: number) => new Date(Date.now() + inMs).toISOString();

function assertionOf(options: SamlResponseOptions, id: string): string {
  const {
    entityId,
    recipient,
    audience,
    nameId,
    attributes = {},
    expiresInMs = 300_000,
    notBeforeInMs = -1_000,
  } = options;
  const format = options.nameIdFormat ?? 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
  const inResponseTo = options.inResponseTo ? ` InResponseTo="${options.inResponseTo}"` : '';
  const statements = Object.entries(attributes).map(
    ([name, values]) =>
      `<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`,
  );
  return `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${at(0)}"><saml:Issuer>${entityId}</saml:Issuer><saml:Subject><saml:NameID Format="${format}">${nameId}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="${at(expiresInMs)}" Recipient="${recipient}"${inResponseTo}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${at(notBeforeInMs)}" NotOnOrAfter="${at(expiresInMs)}"><saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions><saml:AuthnStatement AuthnInstant="${at(0)}" SessionIndex="${options.sessionIndex ?? 'session-1'}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>${statements.join('')}</saml:AttributeStatement></saml:Assertion>`;
}

/** Signs the element with this id; the signature comes after its Issuer. */
function sign(xml: string, id: string, { signer, signatureAlgorithm = 'rsa-sha256' }: SamlResponseOptions): string {
  const isOld = signatureAlgorithm === 'rsa-sha1';
  const signature = new SignedXml({
    privateKey: signer.privateKey,
    publicCert: signer.certificate,
    signatureAlgorithm: isOld
      ? 'http://www.w3.org/2000/09/xmldsig#rsa-sha1'
      : 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  });
  signature.addReference({
    xpath: `//*[@ID='${id}']`,
    digestAlgorithm: isOld ? 'http://www.w3.org/2000/09/xmldsig#sha1' : 'http://www.w3.org/2001/04/xmlenc#sha256',
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/2001/10/xml-exc-c14n#'],
  });
  signature.computeSignature(xml, {
    location: { reference: `//*[@ID='${id}']/*[local-name()='Issuer']`, action: 'after' },
  });
  return signature.getSignedXml();
}
