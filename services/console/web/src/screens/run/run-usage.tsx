import type { JournalRunDetail } from '@runyard/contracts';
import { Cell, HeadCell, Row, Table } from '../../components/table.tsx';

/** The models and tools that a run has called; nothing where it has called none. */
export function RunUsage({ models, tools }: Pick<JournalRunDetail, 'models' | 'tools'>) {
  if (models.length === 0 && tools.length === 0) return null;
  return (
    <details>
      <summary className="cursor-pointer text-xs font-semibold">
        <h2 className="inline">Usage</h2>: {summaryOf(models, tools)}
      </summary>
      <div className="mt-2 flex flex-col gap-3">
        {models.length > 0 && (
          <Table
            caption="Models"
            columns={['Model', 'Calls', 'Failed', 'Input tokens', 'Cached', 'Output', 'Reasoning']}
          >
            {models.map((used) => (
              <Row key={`${used.provider} ${used.model}`}>
                <HeadCell>
                  {used.model} <span className="text-xs text-faint">{used.provider}</span>
                </HeadCell>
                <Cell label="Calls">{used.calls}</Cell>
                <Cell label="Failed">{used.failed}</Cell>
                <Cell label="Input tokens">{used.input_tokens.toLocaleString('en')}</Cell>
                <Cell label="Cached">{used.cache_read_tokens.toLocaleString('en')}</Cell>
                <Cell label="Output">{used.output_tokens.toLocaleString('en')}</Cell>
                <Cell label="Reasoning">{used.reasoning_tokens.toLocaleString('en')}</Cell>
              </Row>
            ))}
          </Table>
        )}
        {tools.length > 0 && (
          <Table caption="Tools" columns={['Tool', 'Calls', 'Failed']}>
            {tools.map(({ name, calls, failed }) => (
              <Row key={name}>
                <HeadCell>{name}</HeadCell>
                <Cell label="Calls">{calls}</Cell>
                <Cell label="Failed">{failed}</Cell>
              </Row>
            ))}
          </Table>
        )}
      </div>
    </details>
  );
}

function summaryOf(models: JournalRunDetail['models'], tools: JournalRunDetail['tools']): string {
  const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
  const words = (number: number, what: string) => `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;
  return [
    words(sum(models.map(({ input_tokens, output_tokens }) => input_tokens + output_tokens)), 'token'),
    words(sum(models.map(({ calls }) => calls)), 'model call'),
    words(sum(tools.map(({ calls }) => calls)), 'tool call'),
  ].join(', ');
}
