"""Services that every layer uses: text cleaning, hashes, tokens, bounded model calls and the reply cache."""
