/**
 * Counts how often each letter occurs: texts of the same letters mean the same. The model costs neither money nor time.
 */
export async function letters(texts: string[]): Promise<number[][]> {
  return texts.map((text) => {
    if (text.includes('unembeddable')) throw new Error('the model refuses this text');
    const counts = new Array<number>(26).fill(0);
    for (const letter of text.toLowerCase()) {
      const place = letter.charCodeAt(0) - 97;
      if (place >= 0 && place < 26) counts[place] = (counts[place] ?? 0) + 1;
    }
    return counts;
  });
}
