-- What the workers of a deployment have counted of runs, all together and since the beginning.
CREATE TABLE run_metric (
  metric text NOT NULL,
  sample text NOT NULL, -- '' of a counter; 'sum', 'count' or the upper bound of a bucket of a histogram
  value  double precision NOT NULL,
  PRIMARY KEY (metric, sample)
);
