import { expect, it } from 'vitest';
import { contentOfParts, partsOfContent } from './content-parts.ts';

it('text stays text, and files become blocks by their media type', () => {
  expect(contentOfParts([{ text: 'a' }, { text: 'b' }])).toBe('a\nb');
  expect(
    contentOfParts([
      { text: 'a' },
      { raw: 'aGk=', mediaType: 'audio/wav' },
      { url: 'https://a.example/x', filename: 'x' },
    ]),
  ).toEqual([
    { type: 'text', text: 'a' },
    { type: 'audio', data: 'aGk=', mimeType: 'audio/wav' },
    { type: 'file', url: 'https://a.example/x', mimeType: 'application/octet-stream', metadata: { filename: 'x' } },
  ]);
});

it.each<[string, unknown, object[]]>([
  ['a text', 'a', [{ text: 'a' }]],
  ['nothing', '', []],
  ['no content', null, []],
  ['a block of text', [{ type: 'text', text: 'a' }, 'b'], [{ text: 'a' }, { text: 'b' }]],
  [
    'a call of a tool and reasoning',
    [
      { type: 'tool_use', id: '1' },
      { type: 'reasoning', reasoning: 'x' },
    ],
    [],
  ],
  ['bytes', [{ type: 'image', mimeType: 'image/png', data: 'aGk=' }], [{ raw: 'aGk=', mediaType: 'image/png' }]],
  [
    'bytes as Python has them',
    [{ type: 'file', source_type: 'base64', mime_type: 'text/csv', data: 'aGk=', metadata: { filename: 'a.csv' } }],
    [{ raw: 'aGk=', mediaType: 'text/csv', filename: 'a.csv' }],
  ],
  ['data', [{ type: 'data', data: [1] }], [{ data: [1] }]],
  ['a URL', [{ type: 'video', url: 'https://a.example/v' }], [{ url: 'https://a.example/v' }]],
  [
    'a URL of data',
    [{ type: 'image_url', image_url: { url: 'data:image/gif;base64,aGk=' } }],
    [{ raw: 'aGk=', mediaType: 'image/gif' }],
  ],
])('%s of a graph becomes parts', (_, content, parts) => {
  expect(partsOfContent(content)).toEqual(parts);
});
