"""One customer of the shop: customer.py buy PRODUCT PIECES, or customer.py redeem COUPON NUMBER."""
import sys

import shop


def main(action, *numbers):
    connection = shop.connect("customer")
    if action == "buy":
        done = shop.buy(connection, *map(int, numbers))
    else:
        done = shop.redeem(connection, *map(int, numbers), "customer " + numbers[1])
    connection.close()
    print("done" if done else "refused")


if __name__ == "__main__":
    main(*sys.argv[1:])
