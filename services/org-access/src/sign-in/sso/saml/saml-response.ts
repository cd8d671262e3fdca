import { SignInRefusedError } from '../sign-in-refusal.ts';
import { requireCheapXml, type XmlLimits } from './cheap-xml.ts';
import { parseXml } from './parse-xml.ts';

/** A person is in at most 1,000 groups, each of which is an element with a text. Providers nest some fifteen elements. */
const LIMITS: XmlLimits = { characters: 150_000, depth: 64, nodes: 2_500, siblings: 1_000, attributes: 4_000 };
const WEAK_ALGORITHM = /(?:#|-)(?:rsa-|dsa-|hmac-)?(?:sha1|md5)$/i;

/** A response whose signature nobody has checked yet. */
export interface SamlResponse {
  /** The field of the form: XML in base64. */
  encoded: string;
  /** The provider that it names. It only chooses whose keys have to have signed the response. */
  claimedIssuer: string;
}

/** Reads a response as anybody may send it. @throws SignInRefusedError */
export function parseSamlResponse(encoded: string): SamlResponse {
  try {
    const xml = Buffer.from(encoded, 'base64').toString('utf8');
    requireCheapXml(xml, LIMITS);
    const root = parseXml(xml).documentElement;
    if (hasWeakAlgorithm(root)) throw new Error('The response is signed with an algorithm that is broken.');
    return { encoded, claimedIssuer: (issuerIn(root) ?? issuerIn(childOf(root, 'Assertion'))) || '' };
  } catch (cause) {
    throw new SignInRefusedError('answer_invalid', { cause });
  }
}

/** Returns whether anything is signed with a broken algorithm, however its name is written. */
function hasWeakAlgorithm(root: Element): boolean {
  const elements = root.getElementsByTagName('*');
  for (let element: Element | null = root, next = 0; element; element = elements.item(next++)) {
    for (const { name, value } of Array.from(element.attributes)) {
      if (name === 'Algorithm' && WEAK_ALGORITHM.test(value.trim())) return true;
    }
  }
  return false;
}

function issuerIn(element: Element | undefined): string | undefined {
  return element && childOf(element, 'Issuer')?.textContent?.trim();
}

function childOf(element: Element, name: string): Element | undefined {
  for (let child = element.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === 1 && (child as Element).localName === name) return child as Element;
  }
  return undefined;
}
