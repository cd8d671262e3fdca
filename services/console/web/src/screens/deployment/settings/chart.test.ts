import type { DeploymentMetrics, DeploymentMetricsPoint } from '@runyard/contracts';
import { expect, test } from 'vitest';
import { highest, linePath, newest } from './chart.ts';

const at = (second: number, pending: number | null) =>
  ({ time: new Date(second * 1_000).toISOString(), pending_runs: pending }) as DeploymentMetricsPoint;
const metrics = (points: DeploymentMetricsPoint[]): DeploymentMetrics => ({
  start_time: new Date(0).toISOString(),
  end_time: new Date(100_000).toISOString(),
  step_seconds: 10,
  points,
});
const FRAME = { width: 100, height: 50 };

test('a line goes through the measured values, from the left to now', () => {
  const values = metrics([at(80, 0), at(90, 5), at(100, 10)]);
  expect(linePath(values, 'pending_runs', 10, FRAME)).toBe('M80.0 50.0L90.0 25.0L100.0 0.0');
});

test('a line breaks where nothing was measured, instead of claiming values', () => {
  const values = metrics([at(0, 1), at(10, 1), at(60, 1)]);
  expect(linePath(values, 'pending_runs', 1, FRAME)).toBe('M0.0 0.0L10.0 0.0M60.0 0.0');
});

test('values that are all zero lie on the ground', () => {
  expect(linePath(metrics([at(0, 0)]), 'pending_runs', 0, FRAME)).toBe('M0.0 50.0');
});

test('the highest and the newest value leave out what was not measured', () => {
  const values = metrics([at(0, 7), at(10, 3), at(20, null)]);
  expect(highest(values, ['pending_runs'])).toBe(7);
  expect(newest(values, 'pending_runs')).toBe(3);
  expect(highest(metrics([at(0, null)]), ['pending_runs'])).toBeNull();
});
