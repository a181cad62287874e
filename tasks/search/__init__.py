"""From documents to rankings: splitting, BM25, neighbours; dense retrieval and fusion will live here too."""
