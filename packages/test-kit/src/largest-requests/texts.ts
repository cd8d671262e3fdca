/** Texts whose repetition is the worst case of something that reads them: a search, a parser, an encoder, a comparison. */
const UNITS = [
  'a',
  ' ',
  ',a=1;',
  '%25',
  '\u0000',
  '😀',
  // Its normal form and its lower case are longer.
  'ﷺİ',
  'a@a.',
  '/../',
  'eyJ-',
];

/** XML as it comes in a SAML message: deep, with many attributes and namespaces, without an end. */
const XML_UNITS = ['<Issuer ', '<a>', '<a xmlns:b="c">', '<!--', '&lt;'];

/** Makes a text of a length in characters. */
export type TextMaker = (length: number) => string;

const repeat =
  (unit: string): TextMaker =>
  (length) =>
    [...unit.repeat(Math.ceil(length / [...unit].length))].slice(0, length).join('');

const encode =
  (unit: string): TextMaker =>
  (length) =>
    Buffer.from(repeat(unit)(Math.floor((length * 3) / 4)))
      .toString('base64')
      .slice(0, length);

const HEADER = Buffer.from('{"alg":"RS256","kid":"a"}').toString('base64url');
/** A token whose claims lie deep in each other. */
const makeToken: TextMaker = (length) => {
  const depth = Math.max(0, Math.floor(((length - HEADER.length - 4) * 3) / 8));
  return `${HEADER}.${Buffer.from('['.repeat(depth) + ']'.repeat(depth)).toString('base64url')}.AA`.slice(0, length);
};

/** Returns a maker of long texts for each way to be hostile. */
export function hostileTexts(): [name: string, make: TextMaker][] {
  return [
    ...UNITS.map((unit): [string, TextMaker] => [JSON.stringify(unit), repeat(unit)]),
    ...XML_UNITS.map((unit): [string, TextMaker] => [`base64 of ${unit}`, encode(unit)]),
    ['a token', makeToken],
  ];
}
