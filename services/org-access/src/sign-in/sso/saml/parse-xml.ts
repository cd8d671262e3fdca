import { DOMParser } from '@xmldom/xmldom';

/** @throws Error that says what is wrong with the text, in one line */
export function parseXml(text: string): Document {
  const fail = (message: string) => {
    throw new Error(message.split('\n')[0]);
  };
  const parser = new DOMParser({ errorHandler: { warning: () => undefined, error: fail, fatalError: fail } });
  const document = parser.parseFromString(text, 'text/xml');
  if (!document?.documentElement) throw new Error('it has no element');
  return document;
}
