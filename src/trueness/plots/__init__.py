"""Pictures: the only place that knows matplotlib (extra `plots`). Functions take computed numbers and draw them."""
