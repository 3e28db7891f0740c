package org.acme.shop;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Lists the dearest articles by their descriptions. */
class ReportHandler extends TextHandler {
    private final Catalogue catalogue;

    ReportHandler(Catalogue catalogue) {
        this.catalogue = catalogue;
    }

    @Override
    String text(int number) {
        List<Catalogue.Article> dear = catalogue.articles.stream()
                .filter(a -> a.price() > 800 + number % 100)
                .sorted(Comparator.comparing(Catalogue.Article::description).thenComparing(a -> catalogue.find(a.name()).price()))
                .toList();
        return dear.stream().limit(60)
                .map(a -> String.format(Locale.ROOT, "%-20s %6d %s", a.name(), a.price(), a.description()))
                .collect(Collectors.joining("\n"));
    }
}
