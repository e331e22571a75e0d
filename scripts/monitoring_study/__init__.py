"""The simulations of docs/monitoring.md: streams of looks, and how monitors do on them."""
