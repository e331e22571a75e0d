"""The simulations of docs/guide/monitoring.md: streams of looks, and how monitors do on them."""
