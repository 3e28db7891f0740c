package org.acme.shop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the shop sells. */
class Catalogue {
    record Article(String name, String description, int price) {}

    static final int ARTICLES = 5000;
    private static final String[] WORDS = {"red", "small", "iron", "garden", "chair", "lamp", "oak", "round", "cheap", "door"};

    final List<Article> articles = new ArrayList<>();
    private final Map<String, Article> byName = new HashMap<>();

    Catalogue() {
        int random = 1;
        for (int i = 0; i < ARTICLES; i++) {
            StringBuilder description = new StringBuilder();
            for (int word = 0; word < 12; word++) {
                random = random * 1103515245 + 12345;
                description.append(WORDS[(random >>> 16) % WORDS.length]).append(' ');
            }
            Article a = new Article("article " + i, description.toString(), (random >>> 16) % 1000);
            articles.add(a);
            byName.put(a.name(), a);
        }
    }

    Article find(String name) {
        return byName.get(name);
    }
}
