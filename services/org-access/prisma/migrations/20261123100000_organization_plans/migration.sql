-- What an organization has booked. Those there are have everything, as do new ones.
ALTER TABLE organization
  ADD COLUMN plan text NOT NULL DEFAULT 'enterprise' CHECK (plan IN ('developer', 'plus', 'enterprise'));
