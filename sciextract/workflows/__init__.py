"""What commands and the review desk do, composed once."""
