"""A run, from what was asked to its end: plan, prices, readings, what is under way, and what may go later."""
