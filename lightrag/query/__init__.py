"""From a question to an answer: plan, gate, keywords, retrieve, fuse, rerank, context, answer."""
