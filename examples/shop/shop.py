"""A small shop on PostgreSQL. It has two races, and its tests are green."""
import os

import psycopg2


def connect(customer):
    return psycopg2.connect(os.environ["DATABASE_URL"], application_name=customer)


def buy(connection, product, pieces):
    """Takes pieces from the stock. Race: two customers may see the same stock."""
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT qty FROM product WHERE id = %s", (product,))
        (qty,) = cursor.fetchone()
        if qty < pieces:
            return False
        cursor.execute("UPDATE product SET qty = %s WHERE id = %s", (qty - pieces, product))
        return True


def buy_safely(connection, product, pieces):
    """The same in one statement that checks the stock itself."""
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "UPDATE product SET qty = qty - %s WHERE id = %s AND qty >= %s",
            (pieces, product, pieces),
        )
        return cursor.rowcount == 1


def redeem(connection, coupon, number, customer):
    """Redeems a coupon. Race: two customers may both be the last one."""
    with connection, connection.cursor() as cursor:
        cursor.execute("SELECT most FROM coupon WHERE id = %s", (coupon,))
        (most,) = cursor.fetchone()
        cursor.execute("SELECT count(*) FROM redemption WHERE coupon = %s", (coupon,))
        (redeemed,) = cursor.fetchone()
        if redeemed >= most:
            return False
        cursor.execute("INSERT INTO redemption VALUES (%s, %s, %s)", (number, coupon, customer))
        return True
