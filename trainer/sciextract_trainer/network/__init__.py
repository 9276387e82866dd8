"""Networks in torch: encoder, heads, losses, and the adapter that lets the core decode them."""
