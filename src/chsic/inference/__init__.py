"""Is x related to y given z, and how sure can one be: the test and what it is made of."""
