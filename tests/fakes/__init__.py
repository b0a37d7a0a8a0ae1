"""Stores and models for tests: whole implementations of the contracts, in memory and without chance."""
