"""Schedulers: rules that make jobs again and again, and what to do about instants that passed."""
