"""The shop without its two races."""
import os

import psycopg2


def connect(customer):
    return psycopg2.connect(os.environ["DATABASE_URL"], application_name=customer)


def buy(connection, product, pieces):
    """Takes pieces from the stock, in one statement that checks the stock itself."""
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "UPDATE product SET qty = qty - %s WHERE id = %s AND qty >= %s",
            (pieces, product, pieces),
        )
        return cursor.rowcount == 1


def redeem(connection, coupon, number, customer):
    """Redeems a coupon, which it locks before it counts."""
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT most FROM coupon WHERE id = %s FOR UPDATE", (coupon,))
        (most,) = cursor.fetchone()
        cursor.execute("SELECT count(*) FROM redemption WHERE coupon = %s", (coupon,))
        (redeemed,) = cursor.fetchone()
        if redeemed >= most:
            return False
        cursor.execute("INSERT INTO redemption VALUES (%s, %s, %s)", (number, coupon, customer))
        return True
