"""Reading text without a model: words, sentences, blocks, folding, quotes."""
