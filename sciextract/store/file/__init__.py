"""The SQLite file itself: how it is opened, shared, made durable, and what its errors mean."""
