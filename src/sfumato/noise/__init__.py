"""Exact noise: integers and rounded reals; it has never heard of epsilon."""
