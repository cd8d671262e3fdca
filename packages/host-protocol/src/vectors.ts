/** Encodes vectors: the header has their lengths, the raw bytes their numbers as four-byte little-endian floats. */

const BYTES = 4;

export function packVectors(vectors: Float32Array[]): { lengths: number[]; parts: Uint8Array[] } {
  const parts = vectors.map((vector) => {
    const bytes = Buffer.allocUnsafe(vector.length * BYTES);
    for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * BYTES);
    return bytes;
  });
  return { lengths: vectors.map(({ length }) => length), parts };
}

export function unpackVectors(lengths: number[], bytes: Buffer): Float32Array[] {
  let position = 0;
  return lengths.map((length) => {
    const vector = new Float32Array(length);
    for (let index = 0; index < length; index += 1, position += BYTES) vector[index] = bytes.readFloatLE(position);
    return vector;
  });
}
