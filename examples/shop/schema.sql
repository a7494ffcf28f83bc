-- A shop that sells the last pieces, and gives coupons that may be redeemed twice.
CREATE TABLE product (id int PRIMARY KEY, name text NOT NULL, qty int NOT NULL);
CREATE TABLE coupon (id int PRIMARY KEY, most int NOT NULL);
CREATE TABLE redemption (id int PRIMARY KEY, coupon int NOT NULL, customer text NOT NULL);
INSERT INTO product VALUES (1, 'lamp', 10), (2, 'chair', 4);
INSERT INTO coupon VALUES (1, 2);
