import type { DeploymentMetricsPoint } from '@runyard/contracts';

export type DeploymentMetricValues = Omit<DeploymentMetricsPoint, 'time'>;

/** The figures of a deployment for the time before `takenAt`. */
export interface Sample {
  deploymentId: string;
  takenAt: Date;
  metrics: DeploymentMetricValues;
}

export interface SampleSink {
  insert(samples: Sample[]): Promise<void>;
}
