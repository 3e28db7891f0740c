package org.acme.shop;

/** Sums up the prices of an order, whose articles it finds by their names. */
class OrderHandler extends TextHandler {
    private final Catalogue catalogue;

    OrderHandler(Catalogue catalogue) {
        this.catalogue = catalogue;
    }

    @Override
    String text(int number) {
        long sum = 0;
        for (int i = 0; i < 2000; i++) {
            sum += price("article " + (number * 31 + i * 7) % Catalogue.ARTICLES);
        }
        return "sum " + sum;
    }

    private int price(String name) {
        return catalogue.find(name).price();
    }
}
