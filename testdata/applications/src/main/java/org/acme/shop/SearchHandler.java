package org.acme.shop;

/** Looks for a text in all descriptions. */
class SearchHandler extends TextHandler {
    private final Catalogue catalogue;

    SearchHandler(Catalogue catalogue) {
        this.catalogue = catalogue;
    }

    @Override
    String text(int number) {
        String wanted = number % 2 == 0 ? "iron garden lamp" : "oak door";
        StringBuilder found = new StringBuilder();
        for (Catalogue.Article a : catalogue.articles) {
            if (a.description().contains(wanted)) {
                found.append(a.name()).append('\n');
            }
        }
        return found.toString();
    }
}
