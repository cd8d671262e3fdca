-- When the worker of a run's last attempt was heard of for the last time, if the run waits because that worker was lost.
ALTER TABLE run ADD COLUMN lost_at timestamptz;
