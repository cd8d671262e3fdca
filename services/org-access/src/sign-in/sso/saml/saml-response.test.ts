import { expect, it } from 'vitest';
import { parseSamlResponse } from './saml-response.ts';

const LENGTH = 150_000;
const repeat = (text: string, length: number) => text.repeat(Math.floor(length / text.length));
const numbered = (each: (index: number) => string, length: number) =>
  Array.from({ length: Math.floor(length / each(10_000).length) }, (_, index) => each(index)).join('');

/** Texts that a parser of XML, or a search in one, may take the square of their length for. */
const SHAPES: Record<string, (length: number) => string> = {
  'issuers without an end': (length) => repeat('<Issuer ', length),
  'issuers inside of each other': (length) => repeat('<Issuer>', length),
  'elements inside of each other': (length) => repeat('<a>', length / 2) + repeat('</a>', length / 2),
  'namespaces inside of each other': (length) => numbered((index) => `<a xmlns:n${index}="x">`, length),
  'namespaces inside of each other, with quotes that look like ends': (length) =>
    numbered((index) => `<a b="/>" xmlns:n${index}="x">`, length),
  'attributes of one element': (length) => `<r ${numbered((index) => `a${index}="" `, length)}/>`,
  'namespaces of one element, and of many inside': (length) =>
    `<r ${numbered((index) => `xmlns:n${index}="x" `, length / 2)}>${repeat('<a xmlns:b="x"/>', length / 2)}</r>`,
  'algorithms beside each other': (length) => `<r>${repeat('<a Algorithm="x"/>', length)}</r>`,
  'instructions without an end': (length) => `<r>${repeat('<?a ', length)}</r>`,
  'comments without an end': (length) => `<r>${repeat('<!--', length)}</r>`,
  'sections without an end': (length) => `<r>${repeat('<![CDATA[', length)}</r>`,
  entities: (length) => `<r>${repeat('&amp;', length)}</r>`,
  'quotes without an end': (length) => `<r a="${repeat("'", length)}`,
  'spaces in a tag': (length) => `<r${repeat(' ', length)}`,
};

const encode = (xml: string) => Buffer.from(xml).toString('base64');

/** Returns milliseconds of processor time, the least of some attempts: others use this process too. */
function timeOf(xml: string): number {
  const attempts = [0, 1, 2].map(() => {
    const start = process.cpuUsage();
    try {
      parseSamlResponse(encode(xml));
    } catch {
      // A refusal costs time too.
    }
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000;
  });
  return Math.min(...attempts);
}

it.each(Object.entries(SHAPES))('a response of %s takes time in proportion to its length', (_, shape) => {
  const [quarter, whole] = [timeOf(shape(LENGTH / 4)), timeOf(shape(LENGTH))];
  expect(whole, `a quarter of it takes ${quarter} ms`).toBeLessThan(8 * quarter + 60);
});

it('a response names its provider in the response, or else in the assertion', () => {
  const issuer = '<s:Issuer xmlns:s="urn:x"> https://idp.example.com </s:Issuer>';
  const read = (xml: string) => parseSamlResponse(encode(xml)).claimedIssuer;
  expect(read(`<Response>${issuer}<Assertion><Issuer>other</Issuer></Assertion></Response>`)).toBe(
    'https://idp.example.com',
  );
  expect(read(`\uFEFF<?xml version="1.0"?>\n<Response><Status/><Assertion>${issuer}</Assertion></Response>`)).toBe(
    'https://idp.example.com',
  );
  expect(read('<Response><Other><Issuer>deep</Issuer></Other></Response>')).toBe('');
});
