-- The shop as it opens in the morning.
SET client_min_messages = warning;
DROP TABLE IF EXISTS product, coupon, redemption;
\ir schema.sql
