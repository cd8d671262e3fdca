export interface SourceMap {
  version: number;
  sources: string[];
  names: string[];
  mappings: string;
}

export function thinned(map: SourceMap): SourceMap;
export function thinSourceMap(file: string): Promise<void>;
