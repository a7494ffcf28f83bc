"""The tests of the shop: each customer in turn, so that nothing goes wrong."""
import unittest

import shop


class ShopTest(unittest.TestCase):
    def setUp(self):
        self.alice = shop.connect("alice-" + self._testMethodName)
        self.bob = shop.connect("bob-" + self._testMethodName)

    def tearDown(self):
        self.alice.close()
        self.bob.close()

    def test_two_customers_buy_lamps(self):
        self.assertTrue(shop.buy(self.alice, 1, 3))
        self.assertTrue(shop.buy(self.bob, 1, 4))

    def test_nobody_buys_more_chairs_than_there_are(self):
        self.assertTrue(shop.buy_safely(self.alice, 2, 3))
        self.assertFalse(shop.buy_safely(self.bob, 2, 3))

    def test_a_coupon_is_redeemed_twice_at_most(self):
        self.assertTrue(shop.redeem(self.alice, 1, 1, "alice"))
        self.assertTrue(shop.redeem(self.bob, 1, 2, "bob"))
        self.assertFalse(shop.redeem(self.alice, 1, 3, "alice"))


if __name__ == "__main__":
    unittest.main()
