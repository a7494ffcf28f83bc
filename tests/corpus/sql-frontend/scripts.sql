-- A program without functions: transactions as a client sends them.
CREATE TABLE seat (id integer PRIMARY KEY, holder text, price integer NOT NULL DEFAULT 10);
CREATE TABLE sale (id serial PRIMARY KEY, seat integer NOT NULL REFERENCES seat (id), buyer text NOT NULL);
INSERT INTO seat (id) VALUES (1), (2);

-- transaction buy
BEGIN;
SELECT holder FROM seat WHERE id = :seat;
UPDATE seat SET holder = :buyer WHERE id = :seat AND holder IS NULL;
INSERT INTO sale (seat, buyer) VALUES (:seat, :buyer);
COMMIT;

-- transaction buy_locked
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT holder FROM seat WHERE id = $1 FOR UPDATE;
UPDATE seat SET holder = $2 WHERE id = $1;
COMMIT;

BEGIN;
SELECT count(*) FROM seat WHERE holder IS NULL;
SELECT s.id, count(x.id) FROM seat s LEFT JOIN sale x ON x.seat = s.id GROUP BY s.id;
COMMIT;

-- transaction refund
BEGIN;
DELETE FROM sale WHERE seat = :'seat' RETURNING buyer;
UPDATE seat SET holder = NULL WHERE id = :'seat';
COMMIT;
-- session a: buy(1, 'ann')
-- session b: buy(1, 'bob')
